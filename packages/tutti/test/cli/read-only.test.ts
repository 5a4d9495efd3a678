import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { Lab } from "../lab/lab.ts";
import { done, mainSession, worker } from "../lab/scenarios.ts";

let lab: Lab;
beforeEach(() => {
  lab = new Lab();
});
afterEach(() => lab.tearDown());

it.each([
  { what: "a new session", tasks: [{ id: "one" }, { id: "two", dependencies: ["one"] }], first: ["one"] },
  { what: "the next turn of a session", tasks: [{ id: "one" }, { id: "two" }], first: ["one", "two"] },
])("a run that cannot write the files of $what pauses with exit 4, and resume continues it", ({ tasks, first }) => {
  const gate = lab.gate();
  const agent = lab.scenario([
    ...mainSession(tasks),
    worker("*", { write: { "{TASK_ID}.md": "a" }, waitForFile: gate.file, block: done({}) }),
  ]);
  const sessions = join(lab.data, "sessions");
  const output = join(lab.folder, "output");
  const launcher = join(import.meta.dirname, "../../bin/tutti.js");
  // A mount that only this script and its children see. Files that were open before stay writable.
  const script = `
    tutti() { ${process.execPath} ${launcher} --json --data-dir ${lab.data} "$@"; }
    tutti run x --cwd ${lab.repo} --agent ${agent} --yes >${output} &
    ${first.map((task) => `until grep -q '"type":"turn:started".*"taskId":"${task}"' ${output}; do sleep 0.1; done`).join("\n")}
    # The agents read their prompts first. Nothing shows when they have, so this is only likely.
    sleep 3
    mount --bind ${sessions} ${sessions} && mount -o remount,ro,bind ${sessions} || exit 100
    touch ${gate.file}
    wait $!
    echo "code $?"
    tail -n 1 ${output}
    umount ${sessions} || exit 101
    tutti resume $(grep -o 'orch_[a-z0-9]*' ${output} | head -n 1) >${output}
    echo "code $?"`;
  const unshare = process.getuid!() === 0 ? ["-m"] : ["-Urm"];
  const { stdout, stderr } = spawnSync("unshare", [...unshare, "sh", "-c", script], {
    encoding: "utf8",
    timeout: 600_000,
  });
  const events = lab.events();
  expect([stdout.match(/code \d/g), stderr], JSON.stringify(events.slice(-5))).toEqual([["code 4", "code 0"], ""]);
  const sentence = /The session folder \S+ cannot be written: "\S+" is read-only\. Make it writable\./;
  const { error } = JSON.parse(stdout.split("\n")[1]!) as { error: { message: string } };
  expect(error.message.replaceAll("\\", "")).toMatch(sentence);
  expect(error.message).toMatch(/Resume it with "tutti resume orch_\w+"\.$/);
  const types = events.map(({ type }) => type);
  expect(types.filter((type) => type === "orchestrator:paused")).toHaveLength(1);
  expect(events.find(({ type }) => type === "orchestrator:paused")?.data).toMatchObject({ reason: "environment" });
  expect(types).toContain("orchestrator:completed");
  expect(types).not.toContain("orchestrator:error");
  expect(lab.leftovers()).toEqual([]);
});

it("a run in a read-only repository pauses with one sentence and exit 4, and resume continues it", () => {
  const agent = lab.scenario([
    ...mainSession([{ id: "one" }]),
    worker("*", { write: { "a.md": "a" }, block: done({}) }),
  ]);
  const launcher = join(import.meta.dirname, "../../bin/tutti.js");
  const script = `
    mount --bind ${lab.repo} ${lab.repo} && mount -o remount,ro,bind ${lab.repo} || exit 100
    tutti() { ${process.execPath} ${launcher} --data-dir ${lab.data} "$@"; }
    tutti run x --cwd ${lab.repo} --agent ${agent} --yes
    echo "code $?"
    umount ${lab.repo} || exit 101
    tutti resume $(tutti list | grep -o '^orch_[a-z0-9]*') --yes
    echo "code $?"`;
  const unshare = process.getuid!() === 0 ? ["-m"] : ["-Urm"];
  const { stdout, stderr } = spawnSync("unshare", [...unshare, "sh", "-c", script], { encoding: "utf8" });
  expect(stdout.match(/code \d/g), stdout + stderr).toEqual(["code 4", "code 0"]);
  expect(stderr).toMatch(/^error \(wrong_state\): Run "orch_\w+" is paused\. Git could not .* is read-only\. .*\n$/);
});
