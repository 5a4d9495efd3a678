import { spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it } from "vitest";
import { endSession } from "../../src/session/keeper/end-session.ts";
import { identify, isAlive } from "../../src/session/process.ts";
import { makeSessionFolder, paths, writeJson } from "../../src/session/keeper/session-folder.ts";
import { realWorld } from "../../src/world.ts";

it("`endSession` waits for the keeper of a session that ended by itself, because `end.json` appears before the keeper exits", async () => {
  const folder = mkdtempSync(join(tmpdir(), "tutti-end-"));
  const keeper = spawn("sleep", ["100000"]);
  try {
    makeSessionFolder(folder);
    const identity = identify(keeper.pid!)!;
    writeJson(paths(folder).end, { reason: "closed", keeper: identity });
    const ended = endSession(folder, "session_1", realWorld);
    setTimeout(() => keeper.kill("SIGKILL"), 100);
    await ended;
    expect(isAlive(identity)).toBe(false);
  } finally {
    keeper.kill("SIGKILL");
    rmSync(folder, { recursive: true, force: true });
  }
});
