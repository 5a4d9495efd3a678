// The data folder of real commands: its permissions, symbolic links to it, and runs on Tutti's own data.
import { spawn } from "node:child_process";
import {
  chmodSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  realpathSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { finished, Lab } from "../lab/lab.ts";
import { goodWorker, mainSession } from "../lab/scenarios.ts";
import { openDataFolder } from "../../src/main/data-folder.ts";

const LAUNCHER = fileURLToPath(new URL("../../bin/tutti.js", import.meta.url));
const modeOf = (path: string): number => lstatSync(path).mode & 0o777;

describe("opening a data folder", () => {
  let folder: string;
  beforeEach(() => {
    folder = realpathSync(mkdtempSync(join(tmpdir(), "tutti-data-")));
  });
  afterEach(() => rmSync(folder, { recursive: true }));

  it("tightens an existing folder and what Tutti has made in it", () => {
    chmodSync(folder, 0o755);
    writeFileSync(join(folder, "engine.lock"), "", { mode: 0o644 });
    mkdirSync(join(folder, "templates"));
    chmodSync(join(folder, "templates"), 0o777);
    openDataFolder(folder);
    expect([folder, join(folder, "engine.lock"), join(folder, "templates")].map(modeOf)).toEqual([0o700, 0o600, 0o700]);
  });

  it("keeps the permissions of a folder that holds something else", () => {
    chmodSync(folder, 0o755);
    writeFileSync(join(folder, "of the user"), "");
    chmodSync(join(folder, "of the user"), 0o644);
    openDataFolder(folder);
    expect([modeOf(folder), modeOf(join(folder, "of the user"))]).toEqual([0o755, 0o644]);
  });

  it("returns the path without symbolic links", () => {
    const target = join(folder, "target");
    mkdirSync(target);
    symlinkSync(target, join(folder, "link"));
    expect(openDataFolder(join(folder, "link"))).toBe(target);
    expect(openDataFolder(join(folder, "link", "new"))).toBe(join(target, "new"));
  });
});

describe("a run", () => {
  let lab: Lab;
  let agent: string;
  beforeEach(() => {
    lab = new Lab();
    agent = lab.scenario([...mainSession([{ id: "task_001" }, { id: "task_002" }]), goodWorker]);
  });
  afterEach(() => lab.tearDown());
  const runIn = (cwd: string) => ["run", "write it down", "--cwd", cwd, "--agent", agent, "--yes"];

  it("succeeds with a data folder behind a symbolic link", async () => {
    mkdirSync(join(lab.folder, "target"));
    symlinkSync(join(lab.folder, "target"), lab.data);
    const { code, stderr } = await lab.tutti(runIn(lab.repo));
    expect({ code, stderr }).toEqual({ code: 0, stderr: expect.any(String) });
    expect(lab.leftovers()).toEqual([]);
  });

  it("leaves nothing in the data folder that other users can read, whatever the umask", async () => {
    const command = 'umask 000 && exec "$@"';
    const start = (...args: string[]) =>
      finished(spawn("sh", ["-c", command, "sh", process.execPath, LAUNCHER, "--data-dir", lab.data, ...args]));
    expect(await start(...runIn(lab.repo))).toMatchObject({ code: 0 });
    const template = join(lab.folder, "mine.json");
    writeFileSync(template, JSON.stringify({ id: "mine", name: "Mine", extends: "documentation" }));
    expect(await start("templates", "import", template)).toMatchObject({ code: 0 });
    const names = readdirSync(lab.data, { recursive: true, encoding: "utf8" });
    expect(names).toEqual(expect.arrayContaining(["engine.lock", "tutti.db", "templates/mine.json", "worktrees"]));
    const open = names.filter((name) => (modeOf(join(lab.data, name)) & 0o077) !== 0);
    expect({ folder: modeOf(lab.data), open }).toEqual({ folder: 0o700, open: [] });
    // The user's repository keeps the permissions that the umask gives.
    expect(statSync(join(lab.repo, ".git/refs/tutti")).mode & 0o077).toBe(0o077);
  });

  it.each([
    ["the data folder itself", (data: string) => data],
    ["a folder in it", (data: string) => join(data, "inner")],
  ])("is rejected in %s", async (_, folderOf) => {
    const cwd = folderOf(lab.data);
    mkdirSync(lab.data);
    lab.git("clone", "--quiet", lab.repo, cwd);
    const { code, last } = await lab.json(runIn(cwd));
    expect({ code, error: last.error }).toEqual({
      code: 4,
      error: { code: "repository_unusable", message: expect.stringMatching(/own data folder .* Choose another/) },
    });
  });

  it("is rejected around the data folder, unless git ignores it", async () => {
    const args = (...more: string[]) => ["--data-dir", join(lab.repo, "data"), ...runIn(lab.repo), ...more];
    expect((await lab.json(args())).last.error).toMatchObject({ code: "repository_unusable" });
    writeFileSync(join(lab.repo, ".git/info/exclude"), "data/\n");
    expect(await lab.json(args())).toMatchObject({ code: 0 });
  });
});
