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

const hasStarted = (task: string) => `grep -qs '"type":"turn:started".*"taskId":"${task}"' output`;
const hasFile = (file: string) => `ls ${file} >/dev/null 2>&1`;
const independent = [{ id: "one" }, { id: "two" }];
const inOrder = [{ id: "one" }, { id: "two", dependencies: ["one"] }];

it.each([
  { files: "the files of a new session", tasks: inOrder, until: hasStarted("one") },
  { files: "the next turn of a session", tasks: independent, until: `${hasStarted("one")} && ${hasStarted("two")}` },
  { files: "the files of a keeper that starts", tasks: inOrder, until: hasFile("data/sessions/*/*_one/spec.json") },
  {
    files: "the files of a keeper that died",
    tasks: inOrder,
    until: hasFile("data/sessions/*/*_one/journal.jsonl"),
    next: `kill -9 $(grep -o '"pid":[0-9]*' data/sessions/*/*_one/keeper.json | grep -o '[0-9]*$')`,
  },
])("a run that cannot write $files pauses with exit 4, and resume continues it", ({ tasks, until, next = "" }) => {
  const gate = lab.gate();
  const agent = lab.scenario([
    ...mainSession(tasks),
    worker("*", { write: { "{TASK_ID}.md": "a" }, waitForFile: gate.file, block: done({}) }),
  ]);
  const launcher = join(import.meta.dirname, "../../bin/tutti.js");
  // Mounts that only this script and its children see. Files that were open before stay writable. `sessions` becomes
  // read-only in one step, because a mount with open files cannot.
  const script = `
    cd ${lab.folder}
    tutti() { ${process.execPath} ${launcher} --json --data-dir data "$@"; }
    tutti run x --cwd repo --agent ${agent} --yes >output &
    until ${until}; do sleep 0.1; done
    mkdir frozen && mount --bind data/sessions frozen && mount -o remount,ro,bind frozen || exit 100
    mount --bind frozen data/sessions || exit 100
    ${next}
    touch ${gate.file}
    wait $!
    echo "code $?"
    tail -n 1 output
    umount data/sessions frozen || exit 101
    tutti resume $(grep -o 'orch_[a-z0-9]*' output | head -n 1) >output
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

it("a run without the permission to write its session files pauses with exit 4, and resume continues it", () => {
  const gate = lab.gate();
  const agent = lab.scenario([
    ...mainSession(inOrder),
    worker("*", { write: { "{TASK_ID}.md": "a" }, waitForFile: gate.file, block: done({}) }),
  ]);
  const launcher = join(import.meta.dirname, "../../bin/tutti.js");
  const script = `
    cd ${lab.folder}
    tutti() { ${process.execPath} ${launcher} --json --data-dir data "$@"; }
    tutti run x --cwd repo --agent ${agent} --yes >output &
    until ${hasStarted("one")}; do sleep 0.1; done
    find data/sessions -type d -exec chmod u-w {} +
    touch data/sessions/x 2>/dev/null && exit 100
    touch ${gate.file}
    wait $!
    echo "code $?"
    tail -n 1 output
    find data/sessions -type d -exec chmod u+w {} +
    tutti resume $(grep -o 'orch_[a-z0-9]*' output | head -n 1) >output
    echo "code $?"`;
  // The permissions of files bind root, too, without these capabilities.
  const isRoot = process.getuid!() === 0;
  const bound = isRoot ? ["--bounding-set=-dac_override,-dac_read_search"] : [];
  const args = [...bound, "sh", "-c", script];
  const { stdout, stderr } = spawnSync(isRoot ? "setpriv" : "env", args, { encoding: "utf8", timeout: 600_000 });
  const events = lab.events();
  expect([stdout.match(/code \d/g), stderr], JSON.stringify(events.slice(-5))).toEqual([["code 4", "code 0"], ""]);
  const { error } = JSON.parse(stdout.split("\n")[1]!) as { error: { message: string } };
  expect(error.message).toMatch(
    /The session folder \S+ cannot be written: .*Resume it with "tutti resume orch_\w+"\.$/,
  );
  expect(error.message).not.toContain("EACCES");
  const paused = events.filter(({ type }) => type === "orchestrator:paused");
  expect(paused.map(({ data }) => data)).toMatchObject([{ reason: "environment" }]);
  expect(events.map(({ type }) => type)).not.toContain("orchestrator:error");
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
