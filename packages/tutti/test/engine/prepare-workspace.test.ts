// Files that git ignores and set-up commands in the workspaces of a run, with real git and a real shell.
import { existsSync, lstatSync, mkdirSync, readFileSync, readlinkSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { EngineLab, untilOver } from "./engine-lab.ts";
import { done, mainSession, worker } from "../lab/scenarios.ts";
import { checkRunner } from "../../src/main/sessions.ts";
import { workerSessionId } from "../../src/schema/ids.ts";
import type { Template } from "../../src/schema/template.ts";

let lab: EngineLab;
beforeEach(() => {
  lab = new EngineLab();
  writeFileSync(join(lab.repo, ".gitignore"), ".env\n*.log\nnode_modules/\nvendor/\n");
  lab.git("add", ".gitignore");
  lab.git("commit", "--quiet", "-m", "ignore files");
  writeFileSync(join(lab.repo, ".env"), "KEY=1\n");
  mkdirSync(join(lab.repo, "node_modules", "package"), { recursive: true });
  writeFileSync(join(lab.repo, "node_modules", "package", "index.js"), "");
});
afterEach(async () => {
  for (const engine of lab.engines) await engine.close();
  lab.tearDown();
});

async function begin(workspace: NonNullable<Template["workspace"]>, go: string) {
  lab.userTemplate("mine", { extends: "_default", workspace });
  const engine = lab.open(undefined, { checks: checkRunner(lab.data) });
  const writes = { waitForFile: go, write: { "one.md": "one\n" }, block: done({}) };
  const id = await lab.begin(engine, lab.scenario([worker("one", writes), ...mainSession([{ id: "one" }])]), {
    templateId: "mine",
    config: { autoSpawn: true },
    phases: { aggregation: { commands: [{ name: "tests", run: "test -e .env && test -e made.log" }] } },
  });
  return { engine, id };
}

it("brings the files and runs the commands of the template, and nothing of it becomes part of the result", async () => {
  const go = join(lab.folder, "go");
  for (const folder of ["bin", "package"]) mkdirSync(join(lab.repo, "vendor", folder), { recursive: true });
  writeFileSync(join(lab.repo, "vendor/package/run.sh"), "echo run\n", { mode: 0o755 });
  symlinkSync("../package/run.sh", join(lab.repo, "vendor/bin/run"));
  const run = "test -e node_modules/package/index.js && vendor/bin/run && echo changed > vendor/package/run.sh";
  const setup = [{ name: "make", run: `${run} && echo made >> made.log` }];
  const { engine, id } = await begin({ copy: [".env", "missing.txt", "vendor"], link: ["node_modules"], setup }, go);
  await engine.until(id, ({ workers }) => workers["one"]?.status === "running");
  const folder = join(lab.data, "worktrees", id, "one-1");
  expect(readFileSync(join(folder, ".env"), "utf8")).toBe("KEY=1\n");
  expect(readFileSync(join(folder, "made.log"), "utf8")).toBe("made\n");
  expect(lstatSync(join(folder, "node_modules", "package")).isSymbolicLink()).toBe(true);
  // A copied folder is the workspace's own: its links stay inside, and changes do not reach the user's files.
  expect(readlinkSync(join(folder, "vendor/bin/run"))).toBe("../package/run.sh");
  expect(readFileSync(join(folder, "vendor/package/run.sh"), "utf8")).toBe("changed\n");
  expect(readFileSync(join(lab.repo, "vendor/package/run.sh"), "utf8")).toBe("echo run\n");
  writeFileSync(go, "");
  expect((await untilOver(engine, id)).redBase).toBeUndefined();
  expect(await engine.result(id)).toMatchObject({ outcome: "success", outputFiles: ["one.md"] });
  expect(existsSync(join(lab.repo, "node_modules", "package", "index.js"))).toBe(true);
});

it.each([
  [{ copy: ["plain.txt"] }, 'Git does not ignore "plain.txt"'],
  [
    { setup: [{ name: "install", run: "echo no network; exit 7" }] },
    'The set-up command "install" failed with exit code 7',
  ],
])("ends the run with a sentence if %j is impossible", async (workspace, sentence) => {
  writeFileSync(join(lab.repo, "plain.txt"), "plain\n");
  const { engine, id } = await begin(workspace, lab.folder);
  const run = await untilOver(engine, id);
  expect(run.status).toBe("error");
  expect((await engine.result(id)).error).toContain(sentence);
});

it("has only the scope of its task and the files above it if the template says so, also when the task is tried again", async () => {
  for (const name of ["src/app/one.ts", "src/lib/two.ts", "other/three.ts"]) {
    mkdirSync(join(lab.repo, dirname(name)), { recursive: true });
    writeFileSync(join(lab.repo, name), `${name}\n`);
  }
  lab.git("add", ".");
  lab.git("commit", "--quiet", "-m", "sources");
  const setup = [{ name: "list", run: "ls -d src/* other > list.txt; true" }];
  lab.userTemplate("mine", { extends: "_default", workspace: { sparse: true, setup } });
  const engine = lab.open(undefined, { checks: checkRunner(lab.data) });
  const fails = { phase: "completion", data: { task_id: "{TASK_ID}", status: "failed", error: "too little" } };
  const first = { match: { role: "worker", attempt: 1 }, turns: [{ block: fails }] };
  const second = { match: { role: "worker" }, turns: [{ block: done({}) }] };
  const plan = mainSession([{ id: "one", scope: ["src/app/"] }]);
  const id = await lab.begin(engine, lab.scenario([...plan, first, second]), {
    templateId: "mine",
    config: { autoSpawn: true, autoRetry: true, retryDelay: 0 },
  });
  const { sessionPrefix } = (await untilOver(engine, id)).template.config;
  const listed = (attempt: number): string => lab.git("show", `refs/tutti/${id}/one/${attempt}:list.txt`);
  expect([listed(1), listed(2)]).toEqual(["src/app", "src/app"]);
  const prompts = await Promise.all(
    [1, 2].map(async (attempt) => {
      const entries = await engine.transcript(id, workerSessionId(id, "one", attempt, sessionPrefix));
      return JSON.stringify(entries.find(({ type }) => type === "prompt"));
    }),
  );
  expect(prompts.map((prompt) => prompt.includes("sparse-checkout add FOLDER"))).toEqual([true, true]);
  expect(await engine.result(id)).toMatchObject({ outcome: "success", outputFiles: ["list.txt"] });
});

it("has only the scope of the run if the template says so and its task has no scope", async () => {
  for (const name of ["src/app/one.ts", "src/lib/two.ts", "other/three.ts"]) {
    mkdirSync(join(lab.repo, dirname(name)), { recursive: true });
    writeFileSync(join(lab.repo, name), `${name}\n`);
  }
  lab.git("add", ".");
  lab.git("commit", "--quiet", "-m", "sources");
  const setup = [{ name: "list", run: "ls -d src/* other > src/lib/list.txt; true" }];
  lab.userTemplate("mine", { extends: "_default", workspace: { sparse: true, setup } });
  const engine = lab.open(undefined, { checks: checkRunner(lab.data) });
  const agent = lab.scenario([...mainSession([{ id: "one" }]), worker("one", { block: done({}) })]);
  const id = await lab.begin(engine, agent, { templateId: "mine", config: { autoSpawn: true }, scope: ["src/lib"] });
  expect((await untilOver(engine, id)).outcome).toBe("success");
  expect(lab.git("show", `refs/tutti/${id}/one/1:src/lib/list.txt`)).toBe("src/lib");
});

it("makes the workspace of the next task while the one before it is at work", async () => {
  const [go, engine] = [join(lab.folder, "go"), lab.open()];
  const tasks = [{ id: "one" }, { id: "two", dependencies: ["one"] }, { id: "three", dependencies: ["two"] }];
  const first = worker("one", { waitForFile: go, write: { "one.md": "done\n" }, block: done({}) });
  const second = worker("two", { then: "hang" });
  const scenario = lab.scenario([...mainSession(tasks), first, second]);
  const id = await lab.begin(engine, scenario, { config: { autoSpawn: true } });
  const folder = join(lab.data, "worktrees", id);
  const untilMade = (name: string) => expect.poll(() => existsSync(join(folder, `${name}.index`))).toBe(true);
  await untilMade("two-1");
  expect(existsSync(join(folder, "two-1", "one.md"))).toBe(false);
  expect(Object.keys(engine.get(id)!.workers), "nothing counts the preparation").toEqual(["one"]);
  writeFileSync(go, "");
  await untilMade("three-1");
  expect(engine.get(id)!.workers["two"]).toMatchObject({ status: "running", attempt: 1 });
  expect(existsSync(join(folder, "two-1", "one.md")), "the second task starts at the work of the first").toBe(true);
  await engine.order(id, "cancel");
  await engine.settled(id);
  expect(existsSync(folder)).toBe(false);
  expect(lab.git("for-each-ref", "--format=%(refname)", `refs/tutti/${id}`)).not.toContain("three");
});
