import { spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it } from "vitest";
import { hurriedWorld } from "../lab/hurried-world.ts";
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

it("`endSession` kills a keeper that does not exit after it wrote `end.json`", async () => {
  const folder = mkdtempSync(join(tmpdir(), "tutti-end-"));
  const keeper = spawn("sleep", ["100000"]);
  try {
    makeSessionFolder(folder);
    const identity = identify(keeper.pid!)!;
    writeJson(paths(folder).end, { reason: "closed", keeper: identity });
    await endSession(folder, "session_1", hurriedWorld());
    expect(isAlive(identity)).toBe(false);
  } finally {
    keeper.kill("SIGKILL");
    rmSync(folder, { recursive: true, force: true });
  }
});

it("`endSession` does not signal a process that only has the keeper's old pid", async () => {
  const folder = mkdtempSync(join(tmpdir(), "tutti-end-"));
  const other = spawn("sleep", ["100000"]);
  try {
    makeSessionFolder(folder);
    const identity = identify(other.pid!)!;
    const keeper = { ...identity, startTime: "1" };
    writeJson(paths(folder).keeper, keeper);
    await endSession(folder, "session_1", hurriedWorld());
    writeJson(paths(folder).end, { reason: "closed", keeper });
    await endSession(folder, "session_1", hurriedWorld());
    expect(isAlive(identity)).toBe(true);
  } finally {
    other.kill("SIGKILL");
    rmSync(folder, { recursive: true, force: true });
  }
});
