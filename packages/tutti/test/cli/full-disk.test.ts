import { spawnSync } from "node:child_process";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { Lab } from "../lab/lab.ts";
import { goodWorker, mainSession } from "../lab/scenarios.ts";

let lab: Lab;
beforeEach(() => {
  const files = Array.from({ length: 20 }, (_, i) => [`big-${i}.txt`, String(i).padEnd(200_000, "x")]);
  lab = new Lab(Object.fromEntries(files));
});
afterEach(() => lab.tearDown());

it("a run whose workspace does not fit on the disk pauses with the figure and exit 4, and resume continues it", () => {
  const agent = lab.scenario([...mainSession([{ id: "one" }]), goodWorker]);
  const disk = join(lab.folder, "disk");
  mkdirSync(disk);
  const launcher = join(import.meta.dirname, "../../bin/tutti.js");
  // A disk that only this script and its children see. It holds the log, but not the files of a workspace.
  const script = `
    mount -t tmpfs -o size=3m tmpfs ${disk} || exit 100
    tutti() { ${process.execPath} ${launcher} --data-dir ${disk}/data "$@"; }
    tutti run x --cwd ${lab.repo} --agent ${agent} --yes
    echo "code $?"
    id=$(tutti list | grep -o 'orch_\\w*')
    tutti list
    mount -o remount,size=64m ${disk}
    tutti resume $id --yes
    echo "code $?"`;
  const unshare = process.getuid!() === 0 ? ["-m"] : ["-Urm"];
  const { stdout, stderr } = spawnSync("unshare", [...unshare, "sh", "-c", script], {
    encoding: "utf8",
    timeout: 600_000,
  });
  const [run, list, resumed] = stdout.split(/code \d\n|(?=success: )/);
  expect(stdout.match(/code \d/g), stdout + stderr).toEqual(["code 4", "code 0"]);
  expect(run).toMatch(/the run is paused/);
  expect(list).toMatch(/ paused /);
  expect(resumed).toMatch(/success: 1 planned, 1 completed/);
  const errors = stderr.trim().split("\n");
  expect(errors).toEqual([
    expect.stringMatching(
      /^error \(wrong_state\): Run "orch_\w+" is paused\. Git could not make the workspace \S+: the disk of "\S+" is full \([\d.]+ MB of 3\.1 MB free\), and 4\.\d MB are needed\. Free some space\. Resume it with "tutti resume orch_\w+"\.$/,
    ),
  ]);
});
