// Whole runs with the real programs: several kinds of agents in one run, and an engine that is killed during their
// work.
import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, expect, test } from "vitest";
import { finished, killProcess, Lab, processTree } from "../lab/lab.ts";
import { agentEnv, agentEnvFlags } from "../lab/model/agent-env.ts";
import { startModel, type ModelEndpoint } from "../lab/model/model-endpoint.ts";
import type { ModelRequest } from "../lab/model/model-request.ts";
import { inOrder } from "../lab/model/script.ts";
import { run, say, write } from "../lab/model/step.ts";
import { askedFor, completion, goodWork, playRun } from "../lab/model/tutti-run.ts";
import { waitUntil } from "../lab/wait-until.ts";

let lab: Lab;
let model: ModelEndpoint;

afterEach(async () => {
  await model.close();
  lab.tearDown();
});

/** Lists which vendor received a request for which block. */
const vendorsByPhase = (requests: ModelRequest[]): string[] =>
  [...new Set(requests.map((request) => `${askedFor(request).phase} ${request.vendor}`))].toSorted();

test("three kinds of agents execute one run, each with its own phases, and all files are merged", async () => {
  const tasks = [{ id: "alpha" }, { id: "beta" }, { id: "gamma", dependencies: ["alpha", "beta"] }];
  model = await startModel(playRun({ tasks }));
  lab = new Lab();
  const template = {
    id: "mixed",
    name: "Mixed",
    extends: "implementation",
    phases: {
      taskPlanning: { agent: "codex" },
      workerExecution: { agent: "codex" },
      verification: { agent: "acp:gemini --acp --skip-trust" },
    },
  };
  mkdirSync(join(lab.data, "templates"), { recursive: true });
  writeFileSync(join(lab.data, "templates/mixed.json"), JSON.stringify(template));
  const before = lab.fingerprint();
  const { TMPDIR: _, ...env } = Object.assign(
    {},
    ...(["claude", "codex", "gemini"] as const).map((name) => agentEnv(name, model, lab.folder)),
  ) as Record<string, string>;
  const flags = ["--template", "mixed", "--agent", "claude", "--cwd", lab.repo, "--yes", ...agentEnvFlags(env)];
  const { code, last, stderr } = await lab.json(["run", "Write three pages", ...flags], env);
  expect(model.problems).toEqual([]);
  expect(code, stderr).toBe(0);
  expect(last).toMatchObject({ outcome: "success", census: { planned: 3, completed: 3 } });
  expect(vendorsByPhase(model.requests)).toEqual([
    "aggregation anthropic",
    "analysis anthropic",
    "completion openai",
    "task_list openai",
    "verification gemini",
  ]);
  const pages = lab.git("ls-tree", "-r", "--name-only", last.branch!, "docs/");
  expect(pages.split("\n")).toEqual(["docs/alpha.md", "docs/beta.md", "docs/gamma.md"]);
  expect(lab.leftovers()).toEqual([]);
  expect(lab.fingerprint()).toBe(before);
});

test("claude, codex and gemini work side by side, each on the tasks that the plan gives it", async () => {
  const tasks = [
    { id: "alpha", agent: "deep" },
    { id: "beta", agent: "codex", model: "gpt-5.4" },
    { id: "gamma", agent: "gemini" },
    { id: "delta", agent: "command:touch evil" },
  ];
  model = await startModel(playRun({ tasks }));
  lab = new Lab();
  const agents = {
    deep: { agent: "claude", model: "claude-large-1", strengths: "hard problems", price: "high" },
    codex: { agent: "codex", strengths: "many small edits" },
    gemini: { agent: "acp:gemini --acp --skip-trust", price: "low" },
  };
  const template = { id: "team", name: "Team", extends: "implementation", phases: { workerExecution: { agents } } };
  mkdirSync(join(lab.data, "templates"), { recursive: true });
  writeFileSync(join(lab.data, "templates/team.json"), JSON.stringify(template));
  const { TMPDIR: _, ...env } = Object.assign(
    {},
    ...(["claude", "codex", "gemini"] as const).map((name) => agentEnv(name, model, lab.folder)),
  ) as Record<string, string>;
  const flags = ["--template", "team", "--agent", "claude", "--cwd", lab.repo, "--yes", ...agentEnvFlags(env)];
  const { code, last, stderr } = await lab.json(["run", "Write four pages", ...flags], env);
  expect(model.problems).toEqual([]);
  expect(code, stderr).toBe(0);
  expect(last).toMatchObject({ outcome: "success", census: { planned: 4, completed: 4 } });
  const planning = model.requests.find((request) => askedFor(request).phase === "task_list")!;
  expect(planning.prompt).toContain("- deep; model claude-large-1; hard problems; price: high");
  const workers = model.requests.filter((request) => askedFor(request).phase === "completion");
  const byTask = new Set(workers.map((request) => `${askedFor(request).task} ${request.vendor}`));
  expect([...byTask].toSorted()).toEqual(["alpha anthropic", "beta openai", "delta anthropic", "gamma gemini"]);
  const modelsOf = (task: string) =>
    new Set(workers.filter((each) => askedFor(each).task === task).map((each) => each.model));
  expect([modelsOf("alpha"), modelsOf("beta")]).toEqual([new Set(["claude-large-1"]), new Set(["gpt-5.4"])]);
  const pages = lab.git("ls-tree", "-r", "--name-only", last.branch!, "docs/");
  expect(pages.split("\n")).toEqual(["docs/alpha.md", "docs/beta.md", "docs/delta.md", "docs/gamma.md"]);
  expect(lab.leftovers()).toEqual([]);
});

test("a message of the user reaches a working claude during its turn, and the log shows it", async () => {
  lab = new Lab();
  const go = join(lab.folder, "go");
  const wait = run(`until [ -e ${go} ]; do sleep 0.1; done`);
  const work = inOrder([write("docs/alpha.md", "# alpha\n")], [wait], [say(completion("alpha"))]);
  const played = playRun({ tasks: [{ id: "alpha", work }] });
  model = await startModel((request) =>
    JSON.stringify(request.body).includes("mind the heron")
      ? [say(completion("alpha", { summary: "with a bird" }))]
      : played(request),
  );
  const template = { id: "wide", name: "Wide", extends: "_default", config: { permissions: { mode: "all" } } };
  mkdirSync(join(lab.data, "templates"), { recursive: true });
  writeFileSync(join(lab.data, "templates/wide.json"), JSON.stringify(template));
  const env = agentEnv("claude", model, lab.folder);
  const server = lab.start(["serve", "--port", "0", ...agentEnvFlags(env)], env);
  const serverEnd = finished(server);
  await waitUntil(() => existsSync(join(lab.data, "server.json")));
  const flags = ["--template", "wide", "--agent", "claude", "--cwd", lab.repo, "--yes"];
  const ended = lab.json(["run", "Write a page", ...flags], env);
  await waitUntil(() => model.requests.some((each) => askedFor(each).task === "alpha" && each.step === 1));
  const id = lab.events().find((event) => event.run)!.run!;
  expect((await lab.json(["message", id, "mind the heron", "--task", "alpha"], env)).code).toBe(0);
  writeFileSync(go, "");
  const { code, last, stderr } = await ended;
  expect(code, stderr).toBe(0);
  expect(last).toMatchObject({ outcome: "success" });
  const events = lab.events().filter(({ run }) => run === id);
  expect(events.filter(({ type }) => type === "message:steered")).toMatchObject([
    { data: { taskId: "alpha", message: 0 } },
  ]);
  // The turn was not repeated.
  const turns = events.filter(
    ({ type, data }) => type === "turn:started" && (data as { taskId: unknown }).taskId === "alpha",
  );
  expect(turns).toHaveLength(1);
  const log = await lab.tutti(["logs", id], env);
  expect(log.stdout).toContain("alpha received your message during its turn");
  server.kill("SIGTERM");
  await serverEnd;
});

test("a new engine adopts the real workers of a killed one, and no task runs twice", async () => {
  const killed = Promise.withResolvers<void>();
  const ids = ["alpha", "beta", "gamma"];
  /** Writes its file, and continues only after the engine was killed. */
  const work = (id: string) => async (request: ModelRequest) => {
    if (request.step > 0) await killed.promise;
    return goodWork(id)(request);
  };
  model = await startModel(
    playRun({ tasks: [...ids.map((id) => ({ id, work: work(id) })), { id: "delta", dependencies: ids }] }),
  );
  lab = new Lab();
  const env = agentEnv("claude", model, lab.folder);
  const given = ["--yes", ...agentEnvFlags(env)];
  const flags = ["--template", "implementation", "--agent", "claude", "--cwd", lab.repo, ...given];
  const engine = lab.start(["--json", "run", "Write four pages", ...flags], env);
  const end = finished(engine);
  await waitUntil(() => atWork().length === ids.length);
  for (const pid of processTree(engine.pid!)) killProcess(pid);
  expect((await end).signal).toBe("SIGKILL");
  killed.resolve();

  const id = lab.events()[0]!.run!;
  const { code, last, stderr } = await lab.json(["attach", id, ...given], env);
  expect(code, stderr).toBe(0);
  expect(last).toMatchObject({ outcome: "success", census: { planned: 4, completed: 4 } });
  expect(model.problems).toEqual([]);
  // Each task has one session, one prompt and one start in the log.
  for (const task of [...ids, "delta"]) {
    const ofTask = model.requests.filter((request) => askedFor(request).task === task);
    expect(new Set(ofTask.map(({ session }) => session)).size, task).toBe(1);
    expect(
      ofTask.map(({ step }) => step),
      task,
    ).toEqual([0, 1, 2]);
  }
  const started = lab.events().filter(({ type }) => type === "worker:started");
  expect(started.map(({ data }) => (data as { taskId: string }).taskId).toSorted()).toEqual(
    [...ids, "delta"].toSorted(),
  );
  const pages = lab.git("ls-tree", "-r", "--name-only", last.branch!, "docs/");
  expect(pages.split("\n")).toEqual([...ids, "delta"].toSorted().map((task) => `docs/${task}.md`));
  expect(lab.leftovers()).toEqual([]);
});

/** Tasks whose workers have written their file and await the next answer. */
const atWork = (): (string | null)[] => [
  ...new Set(model.requests.flatMap((request) => (request.step === 1 ? [askedFor(request).task] : []))),
];
