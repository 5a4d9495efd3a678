import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { makeSessionFolder, paths, writeJson } from "../../src/session/keeper/session-folder.ts";
import { createSecrets } from "../../src/session/secrets/find-secrets.ts";
import { FileMask, maskLeftovers } from "../../src/session/secrets/mask-file.ts";

const SECRET = "a-secret-of-the-user-42";
const secrets = createSecrets([SECRET]);
const PART = `${JSON.stringify({ type: "assistant", text: "part", partial: true })}\n`;

let folder: string;
let other: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "tutti-mask-"));
  other = join(folder, "another-file");
  writeFileSync(other, `${SECRET}\n${PART}`);
  makeSessionFolder(folder);
  writeJson(paths(folder).spec, { mode: "stream" });
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

describe("Masking a file of an agent", () => {
  it("overwrites its secrets and its partial messages", async () => {
    writeFileSync(paths(folder).output, `${SECRET}\n${PART}`);
    await maskLeftovers(folder, secrets);
    const masked = readFileSync(paths(folder).output, "utf8");
    expect(masked).toHaveLength(SECRET.length + 1 + PART.length);
    expect(masked).not.toContain(SECRET);
    expect(masked).not.toContain("partial");
  });

  it("leaves the target of a link unchanged that the agent put in its place", async () => {
    for (const file of [paths(folder).output, paths(folder).errors]) symlinkSync(other, file);
    for (const _ of new FileMask(paths(folder).output, secrets).look());
    await maskLeftovers(folder, secrets);
    expect(readFileSync(other, "utf8")).toBe(`${SECRET}\n${PART}`);
  });

  it("does not wait for a pipe that the agent put in its place", async () => {
    expect(spawnSync("/bin/sh", ["-c", 'mkfifo "$@"', "sh", paths(folder).output, paths(folder).errors]).status).toBe(
      0,
    );
    await maskLeftovers(folder, secrets);
  });
});
