// `tutti run` on a real repository.
import { execFileSync, spawnSync } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { InProcessLab } from "./in-process.ts";
import { agentOf, finished, processesOf } from "../lab/lab.ts";
import { done, goodWorker, mainSession, worker } from "../lab/scenarios.ts";
import { onTerminal } from "../lab/terminal.ts";
import type { InboxItem } from "../../src/schema/inbox.ts";

let lab: InProcessLab;
beforeEach(() => {
  lab = new InProcessLab();
});
afterEach(() => lab.tearDown());

const run = (agent: string, ...more: string[]) =>
  lab.json(["run", "write it down", "--cwd", lab.repo, "--agent", agent, ...more]);
/** Returns the folder of the session in the first event of `type`. */
const sessionOf = (lines: { type?: string; data?: unknown }[], id: string, type: string): string => {
  const { sessionId } = lines.find((line) => line.type === type)!.data as { sessionId: string };
  return join(lab.data, "sessions", id, sessionId);
};
const types = (lines: { type?: string }[]) => lines.flatMap(({ type }) => (type === undefined ? [] : [type]));

/** `InProcessLab` starts a real process for a command with an environment, even an empty one. */
const OWN_PROCESS = {};

describe("one request", () => {
  it("goes through all five phases to an outcome whose census adds up, without touching the checkout of the user (D4-001, D4-003)", async () => {
    lab.write("notes.txt", "not committed\n");
    const fingerprint = lab.fingerprint();
    const agent = lab.scenario([
      ...mainSession([
        { id: "task_001" },
        { id: "task_002" },
        { id: "task_003", dependencies: ["task_001", "task_002"] },
      ]),
      goodWorker,
    ]);
    const request = [
      "run",
      "write it down",
      "--cwd",
      lab.repo,
      "--agent",
      agent,
      "--yes",
      "--template",
      "documentation",
    ];
    const { code, lines, last } = await lab.json(request, OWN_PROCESS);
    expect(code).toBe(0);
    const head = lab.git("rev-parse", `tutti/${last.id}`);
    expect(last).toEqual({
      id: expect.stringMatching(/^orch_[a-z0-9]{12}$/),
      status: "completed",
      outcome: "success",
      census: {
        planned: 3,
        completed: 3,
        failed: 0,
        timeout: 0,
        cancelled: 0,
        skipped: 0,
        blocked: 0,
        neverStarted: 0,
      },
      causes: [],
      branch: `tutti/${last.id}`,
      commit: head,
      outputFiles: ["docs/task_001.md", "docs/task_002.md", "docs/task_003.md"],
      warnings: [],
      conflicts: [],
      verification: { status: "passed", summary: "all is well" },
      usage: { inputTokens: 300, outputTokens: 60, usd: expect.closeTo(0.03) },
      durationMs: expect.any(Number),
      error: null,
    });
    const phases = lines.flatMap((line) =>
      line.type === "orchestrator:phaseChanged" ? [(line.data as { status: string }).status] : [],
    );
    expect(phases).toEqual(["planning", "spawning", "running", "aggregating", "verifying"]);
    expect(lines.slice(0, -1).map(({ seq }) => seq)).toEqual(lines.slice(0, -1).map((_, i) => i + 1));
    expect(lab.fingerprint()).toBe(fingerprint);
    expect(lab.leftovers()).toEqual([]);
    expect(lab.git("branch", "--all", "--format=%(refname)").split("\n")).toEqual([
      "refs/heads/trunk",
      `refs/heads/tutti/${last.id}`,
    ]);
    const merges = lab.git("log", "--first-parent", "--merges", "--format=%s", head).split("\n");
    const titles = [1, 2, 3].map((n) => `Merge task_00${n}: Title of task_00${n}`);
    expect([merges[0], merges.toSorted()]).toEqual([titles[2], titles]);
  });

  it("starts the keeper of its main session before the run is created", async () => {
    const bin = join(lab.folder, "bin");
    mkdirSync(bin);
    const real = execFileSync("which", ["git"], { encoding: "utf8" }).trim();
    // The version is read at the creation of a run. Without a keeper it is not to be had, for five minutes at most.
    const script = `#!/bin/sh
case "$*" in *--version)
  tries=0
  until ps -A -o args | grep -q -e "--[s]pare ${lab.data}"; do
    tries=$((tries + 1)); [ $tries -gt 3000 ] && exit 1; sleep 0.1
  done
esac
exec ${real} "$@"
`;
    writeFileSync(join(bin, "git"), script, { mode: 0o755 });
    const agent = lab.scenario([...mainSession([{ id: "task_001" }]), goodWorker]);
    const request = ["run", "write it down", "--cwd", lab.repo, "--agent", agent, "--yes"];
    const { code, last } = await lab.json(request, { PATH: `${bin}:${process.env["PATH"]}` });
    expect(code).toBe(0);
    expect(last).toMatchObject({ outcome: "success" });
  });

  it("gives each worker the work of its dependencies, and no other work", async () => {
    const agent = agentOf("command", "team.ts");
    const plan = {
      tasks: [
        { id: "a", ms: 10 },
        { id: "b", ms: 10 },
        { id: "c", ms: 10, dependencies: ["a"] },
      ],
    };
    const { last } = await run(
      agent,
      "--yes",
      "--agent-env",
      `PLAN=${JSON.stringify(plan)}`,
      "--agent-env",
      `LEDGER=${join(lab.folder, "ledger")}`,
    );
    expect(last.outcome).toBe("success");
    const files = (task: string) =>
      lab.git("ls-tree", "-r", "--name-only", `refs/tutti/${last.id}/${task}/1`).split("\n");
    expect(files("c")).toEqual(["README.md", "out/a.txt", "out/c.txt"]);
    expect(files("b")).toEqual(["README.md", "out/b.txt"]);
  });

  it("works with a text: agent, one process per turn", async () => {
    const { last } = await run(agentOf("text", "text-team.ts"), "--yes");
    expect(last).toMatchObject({
      outcome: "success",
      census: { planned: 2, completed: 2 },
      outputFiles: ["one.txt", "two.txt"],
    });
  });

  it("works in a subfolder of the repository", async () => {
    lab.write("packages/inner/a.txt", "a\n");
    lab.git("add", "-A");
    lab.git("commit", "-q", "-m", "inner");
    const agent = lab.scenario([...mainSession([{ id: "one" }]), goodWorker]);
    const { last } = await lab.json(["run", "x", "--cwd", join(lab.repo, "packages/inner"), "--agent", agent, "--yes"]);
    expect(last.outputFiles).toEqual(["packages/inner/docs/one.md"]);
  });

  it("with --scope has only the changes of these files and folders below --cwd, and with --role another agent works", async () => {
    lab.write("packages/inner/a.txt", "a\n");
    lab.git("add", "-A");
    lab.git("commit", "-q", "-m", "inner");
    const write = { "a.txt": "changed\n", "docs/one.md": "1\n", "other.txt": "o\n" };
    const strays = worker("one", { tools: ["Write"], write, block: done({}) });
    const agent = lab.scenario(mainSession([{ id: "one" }]), "main.json");
    const role = `workerExecution=${lab.scenario([strays], "workers.json")}`;
    const limited = ["run", "x", "--cwd", join(lab.repo, "packages/inner"), "--agent", agent, "--role", role, "--yes"];
    const { code, last } = await lab.json([...limited, "--scope", "docs/", "--scope", "a.txt"]);
    expect([code, last.outcome, last.outputFiles]).toEqual([
      1,
      "degraded",
      ["packages/inner/a.txt", "packages/inner/docs/one.md"],
    ]);
    expect(last.causes).toMatchObject([{ status: "out_of_scope", reason: expect.stringContaining("other.txt") }]);
    const outside = await lab.tutti([...limited, "--scope", "../../../elsewhere"]);
    expect([outside.code, outside.stderr]).toEqual([2, expect.stringContaining("lies outside the repository")]);
    const unknown = await lab.tutti([...limited, "--role", "WRITER=local"]);
    expect(unknown.stderr).toContain('starts no agent for "WRITER". Choose from analysis, taskPlanning,');
    const incomplete = await lab.tutti([...limited, "--role", "local"]);
    expect([incomplete.code, incomplete.stderr]).toEqual([
      2,
      expect.stringContaining('"local" is not a valid value of --role. Use the form NAME=value.'),
    ]);
  });

  it("includes changes of the main session from aggregation and verification, but not from earlier phases", async () => {
    const [analysis, planning, aggregation, verification] = mainSession([{ id: "a" }, { id: "b" }]) as {
      turns: object[];
    }[];
    const writes = (entry: { turns: object[] }, name: string) => ({
      ...entry,
      turns: [{ ...entry.turns[0], write: { [name]: `${name}\n` } }],
    });
    const sessions = [
      writes(analysis!, "early.txt"),
      planning,
      writes(aggregation!, "merged.txt"),
      writes(verification!, "verified.txt"),
      goodWorker,
    ];
    const { last } = await run(lab.scenario(sessions as object[]), "--yes", "--template", "documentation");
    expect(last.outputFiles).toEqual(["docs/a.md", "docs/b.md", "merged.txt", "verified.txt"]);
  });

  it("with one task is verified without an aggregation phase", async () => {
    const agent = lab.scenario([...mainSession([{ id: "one" }]), goodWorker]);
    const { lines, last } = await run(agent, "--yes", "--template", "documentation");
    expect(types(lines)).not.toContain("orchestrator:aggregated");
    expect(last).toMatchObject({
      outcome: "success",
      verification: { status: "passed" },
      outputFiles: ["docs/one.md"],
    });
    expect(lab.git("show", `tutti/${last.id}:docs/one.md`)).toBe("# Title of one");
  });

  it("on a repository with uncommitted changes and submodules works on the last commit and warns", async () => {
    lab.write("README.md", "changed by the user\n");
    lab.write(".gitmodules", '[submodule "sub"]\n\tpath = sub\n\turl = ./sub\n');
    const agent = lab.scenario([...mainSession([{ id: "one" }]), goodWorker]);
    const { lines, last } = await run(agent, "--yes");
    const started = lines.find(({ type }) => type === "orchestrator:started")!;
    expect((started.data as { warnings: string[] }).warnings).toEqual([
      expect.stringContaining("uncommitted changes"),
      expect.stringMatching(/^Submodules are not checked out/),
    ]);
    expect(lab.git("show", `tutti/${last.id}:README.md`)).toBe("# A project");
    expect(readFileSync(join(lab.repo, "README.md"), "utf8")).toBe("changed by the user\n");
  });

  it("accepts blocks with prose, progress and split bytes around them", async () => {
    const progress =
      '<<<ORCHESTRATOR_RESPONSE>>>{"phase":"progress","data":{"task_id":"one","status":"in_progress","progress_percent":40,"current_action":"thinking"}}<<<END_ORCHESTRATOR_RESPONSE>>>';
    const agent = lab.scenario([
      ...mainSession([{ id: "one" }]),
      worker("*", {
        say: `First.\n${progress}\nThen 🎭.`,
        chunkBytes: 7,
        write: { "a.md": "a" },
        block: done({}),
      }),
    ]);
    const { lines, last } = await run(agent, "--yes");
    expect(last.outcome).toBe("success");
    const progressed = lines.find(({ type }) => type === "worker:progress");
    expect(progressed?.data).toMatchObject({ taskId: "one", progress: 40, currentAction: "thinking" });
  });
});

describe("an agent", () => {
  it("that crashes fails its task, blocks the dependents and degrades the run; --allow-degraded exits with 0", async () => {
    const sessions = [
      ...mainSession([{ id: "good" }, { id: "bad" }, { id: "after", dependencies: ["bad"] }]),
      worker("bad", { then: "crash" }),
      goodWorker,
    ];
    const { code, last } = await run(lab.scenario(sessions), "--yes");
    expect(code).toBe(1);
    expect(last).toMatchObject({
      status: "completed",
      outcome: "degraded",
      census: { planned: 3, completed: 1, failed: 1, blocked: 1 },
      causes: [
        { taskId: "bad", status: "failed", reason: expect.stringContaining("SIGKILL") },
        { taskId: "after", status: "blocked", reason: "needs bad" },
      ],
    });
    expect(lab.leftovers()).toEqual([]);
    const again = await run(lab.scenario(sessions), "--yes", "--allow-degraded");
    expect(again.code).toBe(0);
  });

  it("that fails in every task fails the run", async () => {
    const sessions = [
      ...mainSession([{ id: "one" }, { id: "two" }]),
      worker("*", {
        block: { phase: "completion", data: { task_id: "{TASK_ID}", status: "failed", error: "cannot" } },
      }),
    ];
    const { code, last } = await run(lab.scenario(sessions), "--yes");
    expect(code).toBe(1);
    expect(last).toMatchObject({
      status: "error",
      outcome: "failed",
      census: { planned: 2, failed: 2 },
      error: "no task completed",
    });
  });

  it("that crashes has failed, unless its completion was the last block", async () => {
    const block = (phase: string, data: object) =>
      `<<<ORCHESTRATOR_RESPONSE>>>${JSON.stringify({ phase, data })}<<<END_ORCHESTRATOR_RESPONSE>>>`;
    const claim = block("completion", { task_id: "one", status: "success" });
    const more = block("progress", { task_id: "one", status: "in_progress", progress_percent: 10 });
    const dies = (say: string) =>
      lab.scenario([...mainSession([{ id: "one" }]), worker("*", { tools: ["Edit"], say, then: "crash" })]);
    expect((await run(dies(claim + more), "--yes")).last).toMatchObject({ outcome: "failed", census: { failed: 1 } });
    expect((await run(dies(more + claim), "--yes")).last).toMatchObject({
      outcome: "success",
      census: { completed: 1 },
    });
  });

  it("may print its block as plain lines", async () => {
    const file = join(lab.folder, "plain.mjs");
    writeFileSync(
      file,
      `import { createInterface } from "node:readline";
       import { writeFileSync } from "node:fs";
       const id = process.env.TUTTI_TASK_ID;
       const data = { analysis: { summary: "s", recommended_splits: 1 }, taskPlanning: { tasks: [{ id: "one", title: "t", description: "d" }] }, workerExecution: { task_id: id, status: "success" } };
       const names = { analysis: "analysis", taskPlanning: "task_list", workerExecution: "completion" };
       for await (const line of createInterface({ input: process.stdin })) {
         const { phase } = JSON.parse(line);
         if (id) writeFileSync("a.md", "a");
         console.log("<<<ORCHESTRATOR_RESPONSE>>>\\n" + JSON.stringify({ phase: names[phase], data: data[phase] }) + "\\n<<<END_ORCHESTRATOR_RESPONSE>>>");
         console.log(JSON.stringify({ type: "turn_end" }));
       }`.replaceAll("\\\\n", "\\n"),
    );
    const { last } = await run(`command:${process.execPath} ${file}`, "--yes");
    expect(last).toMatchObject({ outcome: "success", outputFiles: ["a.md"] });
  });

  it("whose tool calls all failed has done no work", async () => {
    const file = lab.write(
      "failing.mjs",
      `import { createInterface } from "node:readline";
       const task_id = process.env.TUTTI_TASK_ID;
       const data = { analysis: { summary: "s", recommended_splits: 1 }, taskPlanning: { tasks: [{ id: "one", title: "t", description: "d" }] }, workerExecution: { task_id, status: "success" } };
       const names = { analysis: "analysis", taskPlanning: "task_list", workerExecution: "completion" };
       const send = (line) => console.log(JSON.stringify(line));
       for await (const line of createInterface({ input: process.stdin })) {
         const { phase } = JSON.parse(line);
         send({ type: "tool", id: "a", name: "Read", input: {} });
         for (const id of ["a", "a", "b"]) send({ type: "tool_failed", id, error: "no such file" });
         const block = JSON.stringify({ phase: names[phase], data: data[phase] });
         send({ type: "assistant", text: "<<<ORCHESTRATOR_RESPONSE>>>" + block + "<<<END_ORCHESTRATOR_RESPONSE>>>" });
         send({ type: "turn_end" });
       }`,
    );
    const { last } = await run(`command:${process.execPath} ${file}`, "--yes");
    expect(last.causes).toMatchObject([
      { reason: "reported success, but had no tool call that succeeded (1 failed) and changed nothing" },
    ]);
  });

  it("that reports success without a tool call or a change has failed", async () => {
    const sessions = [
      ...mainSession([{ id: "one" }]),
      worker("*", { say: "All done!", block: done({ output_files: ["docs/none.md"] }) }),
    ];
    const { last } = await run(lab.scenario(sessions), "--yes");
    expect(last.causes).toEqual([
      { taskId: "one", status: "failed", reason: "reported success, but called no tool and changed nothing" },
    ]);
  });

  it("whose reported files do not exist or did not change is shown with a warning", async () => {
    const files = ["a.md", "docs/none.md", "README.md"];
    const sessions = [
      ...mainSession([{ id: "one" }]),
      worker("*", { write: { "a.md": "a" }, block: done({ output_files: files }) }),
    ];
    const { last } = await run(lab.scenario(sessions), "--yes");
    const warnings = [
      'one: it reported files that do not exist: "docs/none.md".',
      'one: it reported files that it did not change: "README.md".',
    ];
    expect(last).toMatchObject({ outcome: "degraded", warnings });
    const { stdout } = await lab.tutti(["status", String(last["id"])]);
    for (const warning of warnings) expect(stdout).toContain(`warning: ${warning}`);
  });

  it("without a block is asked again with the reason, and accepted when the block comes", async () => {
    const sessions = [
      ...mainSession([{ id: "one" }]),
      worker("*", { say: "Finished, I think." }, { write: { "a.md": "a" }, block: done({}) }),
    ];
    const { lines, last } = await run(lab.scenario(sessions), "--yes");
    expect(last.outcome).toBe("success");
    const ended = lines.find(
      (line) => line.type === "turn:ended" && (line.data as { taskId: string }).taskId === "one",
    );
    expect((ended!.data as { problems: string[] }).problems[0]).toContain("<<<ORCHESTRATOR_RESPONSE>>>");
  });

  it.each([
    [
      "is not readable even with repairs",
      "<<<ORCHESTRATOR_RESPONSE>>> no object here <<<END_ORCHESTRATOR_RESPONSE>>>",
      "could not be used",
    ],
    [
      "lacks a required member",
      '<<<ORCHESTRATOR_RESPONSE>>>{"phase":"completion","data":{"task_id":"one"}}<<<END_ORCHESTRATOR_RESPONSE>>>',
      '"data.status" is missing',
    ],
  ])(
    "whose block %s is asked again with that reason, and its text is in the log (D0-077, D0-078, D0-080)",
    async (_, say, reason) => {
      lab.playsAgents = false;
      const sessions = [
        ...mainSession([{ id: "one" }]),
        worker("*", { say }, { write: { "a.md": "a" }, block: done({}) }),
      ];
      const { lines, last } = await run(lab.scenario(sessions), "--yes");
      expect(last.outcome).toBe("success");
      const problems = lines.flatMap((line) =>
        line.type === "turn:ended" ? (line.data as { problems: string[] }).problems : [],
      );
      expect(problems.join("\n")).toContain(reason);
      const turns = lines.flatMap(({ type, data }) =>
        type === "turn:ended" ? [data as { taskId: string | null }] : [],
      );
      expect(turns.find(({ taskId }) => taskId === "one")).toMatchObject({ said: say });
      const secondTurn = readFileSync(
        join(sessionOf(lines, last.id!, "worker:spawning"), "requests/turn-000002.json"),
        "utf8",
      );
      expect((JSON.parse(secondTurn) as { text: string }).text).toContain(reason);
    },
  );

  it("without a block in three tries of the analysis ends the run with the reason; its text and the guessed phase are in the log (D0-072, D0-073, D0-074, D0-075, D0-082/E71)", async () => {
    lab.playsAgents = false;
    const { code, last, lines } = await run(lab.scenario([{ turns: [{ say: "The analysis is complete." }] }]), "--yes");
    expect(code).toBe(1);
    const ended = lines.filter(({ type }) => type === "turn:ended").map(({ data }) => data);
    expect(ended).toHaveLength(3);
    for (const each of ended)
      expect(each).toMatchObject({
        said: "The analysis is complete.",
        guess: { phase: "analysis", confidence: expect.any(Number) },
      });
    const main = sessionOf(lines, last.id!, "main:spawning");
    const prompt = (turn: number) => readFileSync(join(main, "requests", `turn-00000${turn}.json`), "utf8");
    expect(prompt(1)).not.toContain("could not be used");
    expect(prompt(2)).toContain("data must contain summary, recommended_splits");
    expect(last).toMatchObject({
      status: "error",
      outcome: "failed",
      error: expect.stringContaining("no usable answer after 3 tries"),
    });
    expect(lines.find(({ type }) => type === "inbox:added")!.data).toMatchObject({
      item: { kind: "data", phase: "analysis", question: expect.stringContaining("You can supply its data") },
    });
    expect(lab.leftovers()).toEqual([]);
  });

  it("that fails in the analysis can be replaced by data from the user, and the run continues", async () => {
    const main = mainSession([{ id: "one" }]).slice(1);
    const sessions = [{ match: { role: "main", phase: "analysis" }, turns: [{ say: "Hm." }] }, ...main, goodWorker];
    const { last } = await run(lab.scenario(sessions), "--yes");
    expect(last.status).toBe("error");
    const { stdout } = await lab.json(["status", last.id!]);
    const [item] = Object.keys((JSON.parse(stdout) as { inbox: object }).inbox);
    const wrong = await lab.json(["answer", item!, '{"summary":"no number"}']);
    expect(wrong).toMatchObject({
      code: 2,
      last: { error: { code: "invalid_input", message: expect.stringContaining("recommended_splits") } },
    });
    // The run was started with `--yes`, so nothing asks about its plan.
    const right = await lab.json(["answer", item!, '{"summary":"by hand","recommended_splits":1}']);
    expect(right).toMatchObject({ code: 0, last: { outcome: "success" } });
    expect(lab.leftovers()).toEqual([]);
  });

  it("that dies three times in the aggregation makes the run wait, and a retry, a resume or an answer completes it with the work of its tasks", async () => {
    const dies = [1, 2, 3].map((attempt) => ({
      match: { role: "main", phase: "aggregation", attempt },
      turns: [{ then: "crash" }],
    }));
    const sessions = [...dies, ...mainSession([{ id: "one" }, { id: "two" }]), goodWorker];
    for (const way of ["retry", "resume", "answer"]) {
      const waiting = await run(lab.scenario(sessions), "--yes");
      expect(waiting.code).toBe(4);
      type Refused = { code: string; message: string; details: InboxItem };
      const { code, message, details } = waiting.last["error"] as unknown as Refused;
      expect([code, details.kind, details.options]).toEqual([
        "needs_answer",
        "failure",
        ["try it again", "cancel the run"],
      ]);
      expect(message).toContain(
        `tutti retry ${details.run}, or tutti answer ${details.id} --option 1 to cancel the run`,
      );
      const again = await lab.json(way === "answer" ? [way, details.id, "Try it again"] : [way, details.run]);
      expect([again.code, again.last.outcome], again.stderr).toEqual([0, "success"]);
      expect(again.last.census).toMatchObject({ planned: 2, completed: 2 });
      const { stdout } = await lab.json(["logs", details.run]);
      expect(stdout.match(/"worker:spawning"/g)).toHaveLength(2);
      const over = await lab.json(["retry", details.run]);
      expect([over.code, over.last["error"]]).toMatchObject([4, { code: "wrong_state" }]);
    }
    expect(lab.leftovers()).toEqual([]);
  });

  it("that repeats the prompt, or reports for another task, has no effect, and the log records it", async () => {
    const echo = join(lab.folder, "echo.mjs");
    writeFileSync(echo, "let all = ''; for await (const part of process.stdin) all += part; console.log(all);");
    const { last, lines } = await run(`text:${process.execPath} ${echo}`, "--yes");
    expect(last).toMatchObject({ status: "error", error: expect.stringContaining("no usable answer") });
    expect(types(lines)).toContain("protocol:ignored");
    const sessions = [
      ...mainSession([{ id: "one" }, { id: "two" }]),
      worker("one", {
        write: { "a.md": "a" },
        block: { phase: "completion", data: { task_id: "two", status: "success" } },
      }),
      worker("two", { delayMs: 500, then: "crash" }),
    ];
    const spoof = await run(lab.scenario(sessions), "--yes");
    expect(spoof.last.census).toMatchObject({ completed: 0, failed: 2 });
  });

  it("that changes the same file as another one causes a conflict: both versions stay reachable, the run is degraded", async () => {
    const sessions = [
      ...mainSession([{ id: "one" }, { id: "two" }]),
      worker("*", { write: { "same.md": "by {TASK_ID}\n" }, block: done({}) }),
    ];
    const { code, last } = await run(lab.scenario(sessions), "--yes");
    expect(code).toBe(1);
    expect(last).toMatchObject({
      outcome: "degraded",
      census: { completed: 2 },
      conflicts: [{ type: "file_conflict", files: ["same.md"], resolution: null }],
    });
    const [conflict] = last.conflicts!;
    expect(conflict!.tasks.toSorted()).toEqual(["one", "two"]);
    const versions = conflict!.refs.map((ref) => lab.git("show", `${ref}:same.md`));
    expect(versions.toSorted()).toEqual(["by one", "by two"]);
    const { stdout } = await lab.tutti(["status", last.id!]);
    expect(stdout).toContain("outcome: degraded");
    expect(stdout).toContain(`conflict in same.md: ${conflict!.tasks.join(", ")} (not settled; compare refs/tutti/`);
  });

  it("whose program cannot be started ends the run with exit 5", async () => {
    const script = lab.write("tool.sh", "#!/bin/sh\necho hello\n");
    spawnSync("chmod", ["+x", script]);
    const { code, last } = await run("command:./tool.sh", "--yes");
    expect(code).toBe(5);
    expect(last).toMatchObject({ status: "error", error: expect.stringContaining("could not be started") });
    expect(lab.leftovers()).toEqual([]);
  });
});

describe("the user", () => {
  const tasks = () => lab.scenario([...mainSession([{ id: "one" }, { id: "two" }]), goodWorker]);

  it("without a terminal and without --yes gets the next command and exit 4, and the run stays in confirming", async () => {
    const { code, stdout, stderr } = await lab.tutti(["run", "x", "--cwd", lab.repo, "--agent", tasks()]);
    expect(code).toBe(4);
    expect(stdout).toContain("Title of two");
    const [, command] = /tutti (confirm orch_\w+)/.exec(stderr)!;
    expect(lab.leftovers().filter((left) => left.startsWith("process"))).toEqual([]);
    const { last: listed } = await lab.json(["list"]);
    expect(listed).toMatchObject([{ status: "confirming" }]);
    const { code: confirmed, last } = await lab.json(command!.split(" "));
    expect(confirmed).toBe(0);
    expect(last).toMatchObject({ outcome: "success", census: { completed: 2 } });
    expect(lab.leftovers()).toEqual([]);
  });

  it("without a terminal gets exit 4 when an agent asks, no agent runs on, and the answer is used without another question", async () => {
    const sessions = [
      ...mainSession([{ id: "one" }]),
      worker("*", { write: { "a.md": "a" }, then: "ask:Tabs or spaces?" }, { block: done({}) }),
    ];
    const { code, last } = await run(lab.scenario(sessions), "--yes");
    expect(code).toBe(4);
    expect(last.error).toMatchObject({ code: "needs_answer", message: expect.stringContaining("Tabs or spaces?") });
    expect(lab.leftovers().filter((left) => left.startsWith("process"))).toEqual([]);
    const [, item] = /tutti answer (item_\w+)/.exec(last.error!.message)!;
    const answered = await lab.json(["answer", item!, "spaces"]);
    expect(answered.last).toMatchObject({ outcome: "success", census: { completed: 1 } });
    expect(lab.leftovers()).toEqual([]);
    const again = await lab.json(["answer", item!, "tabs"]);
    expect(again).toMatchObject({ code: 3, last: { error: { code: "item_not_found" } } });
  });

  it("with --leave-running leaves its agents to the command that answers them", async () => {
    lab.playsAgents = false;
    const sessions = [
      ...mainSession([{ id: "one" }]),
      worker("*", { write: { "a.md": "a" }, then: "ask:Tabs or spaces?" }, { block: done({}) }),
    ];
    const { code, last } = await run(lab.scenario(sessions), "--yes", "--leave-running");
    expect(code).toBe(4);
    expect(lab.leftovers().filter((left) => left.startsWith("process"))).not.toEqual([]);
    const [, item] = /tutti answer (item_\w+)/.exec(last.error!.message)!;
    expect((await lab.json(["answer", item!, "spaces"])).last).toMatchObject({ outcome: "success" });
    expect(lab.events().filter(({ type }) => type === "worker:spawning")).toHaveLength(1);
    expect(lab.leftovers()).toEqual([]);
  });

  it("without a terminal gets a question only when no other task can proceed", async () => {
    const sessions = [
      ...mainSession([{ id: "asks" }, { id: "first" }, { id: "second", dependencies: ["first"] }]),
      worker("asks", { write: { "a.md": "a" }, then: "ask:Which?" }, { block: done({}) }),
      worker("*", { delayMs: 300, write: { "{TASK_ID}.md": "x" }, block: done({}) }),
    ];
    const { code, lines } = await run(lab.scenario(sessions), "--yes");
    expect(code).toBe(4);
    const completed = lines.flatMap((line) =>
      line.type === "worker:completed" ? [(line.data as { taskId: string }).taskId] : [],
    );
    expect(completed).toEqual(["first", "second"]);
    await lab.json(["cancel", lab.events()[0]!.run!]);
  });

  it("ends the command in order by closing its output pipe", async () => {
    const launcher = join(import.meta.dirname, "../../bin/tutti.js");
    const agent = lab.scenario([...mainSession([{ id: "one" }]), worker("*", { delayMs: 1500, then: "hang" })]);
    const command = [
      process.execPath,
      launcher,
      "--data-dir",
      lab.data,
      "run",
      "x",
      "--yes",
      "--cwd",
      lab.repo,
      "--agent",
      agent,
    ].join(" ");
    const piped = `${command} | head -n 2; exit \${PIPESTATUS[0]}`;
    const { status, stderr } = spawnSync("bash", ["-c", piped], { encoding: "utf8" });
    expect([status, stderr]).toEqual([141, ""]);
    await expect.poll(() => lab.leftovers().filter((left) => left.startsWith("process"))).toEqual([]);
    await lab.json(["cancel", lab.events()[0]!.run!]);
  });

  it("ends the command and its agents by closing the window during a question", async () => {
    const sessions = [
      ...mainSession([{ id: "one" }, { id: "two" }]),
      worker("one", { then: "ask:Which?" }),
      worker("two", { then: "hang" }),
    ];
    const agent = lab.scenario(sessions);
    const child = onTerminal(["--data-dir", lab.data, "run", "x", "--yes", "--cwd", lab.repo, "--agent", agent]);
    let shown = "";
    child.stdout.on("data", (text: string) => {
      shown += text;
      if (shown.includes("> ")) child.kill("SIGKILL");
    });
    await once(child, "close");
    await expect.poll(() => lab.leftovers().filter((left) => left.startsWith("process"))).toEqual([]);
    await lab.json(["cancel", lab.events()[0]!.run!]);
  });

  it("sees the text of an agent without control characters", async () => {
    const [analysis, , aggregation] = mainSession([]) as object[];
    const title = "nice\u001b]0;PWNED\u0007\u001b[1A\u001b[2Kspoof\nerror: fake";
    const tasks = { phase: "task_list", data: { tasks: [{ id: "one", title, description: "d" }] } };
    const agent = lab.scenario([
      analysis!,
      { match: { role: "main", phase: "task_list" }, turns: [{ block: tasks }] },
      aggregation!,
      goodWorker,
    ]);
    const { stdout } = await lab.tutti(["run", "x", "--cwd", lab.repo, "--agent", agent, "--yes"]);
    expect(stdout.replaceAll("\n", "")).not.toMatch(/\p{Cc}/u);
    expect(stdout).not.toMatch(/^error: fake/m);
  });

  it("interrupts a run with exit 130: the agents end, and attach continues the run", async () => {
    lab.playsAgents = false;
    const sessions = [
      ...mainSession([{ id: "quick" }, { id: "slow" }]),
      { match: { role: "worker", task: "slow", attempt: 1 }, turns: [{ then: "hang" }] },
      goodWorker,
    ];
    const child = lab.start(["--json", "run", "x", "--cwd", lab.repo, "--agent", lab.scenario(sessions), "--yes"]);
    const end = finished(child);
    // Without a turn, `attach` would start the first attempt of `slow` again, which hangs.
    const isAtWork = () => {
      const events = lab.events();
      return (
        events.some((event) => event.type === "worker:completed") &&
        events.some((event) => event.type === "turn:started" && event.data.taskId === "slow")
      );
    };
    while (!existsSync(join(lab.data, "tutti.db")) || !isAtWork()) await sleep(50);
    child.kill("SIGINT");
    const { code: interruptedCode, stdout } = await end;
    const left = JSON.parse(stdout.trim().split("\n").at(-1)!) as object;
    const next = `tutti attach ${lab.events()[0]!.run!}`;
    expect([interruptedCode, left]).toMatchObject([130, { status: "running", interrupted: true, next }]);
    await expect.poll(() => processesOf(lab.folder)).toEqual([]);
    const id = lab.events()[0]!.run!;
    const { code, last } = await lab.json(["attach", id]);
    expect(code).toBe(0);
    expect(last).toMatchObject({ outcome: "success", census: { completed: 2 } });
    const spawned = lab
      .events()
      .flatMap((event) => (event.type === "worker:spawning" ? [`${event.data.taskId} ${event.data.attempt}`] : []));
    expect(spawned.toSorted()).toEqual(["quick 1", "slow 1", "slow 2"]);
    expect(lab.leftovers()).toEqual([]);
  });

  it("cancels a run that waits for confirmation", async () => {
    await run(tasks());
    const id = lab.events()[0]!.run!;
    const { code, last } = await lab.json(["cancel", id]);
    expect(code).toBe(0);
    expect(last).toMatchObject({ status: "cancelled", outcome: "cancelled", census: { planned: 2, neverStarted: 2 } });
    expect(lab.leftovers()).toEqual([]);
    expect(await lab.json(["cancel", id])).toMatchObject({ code: 4, last: { error: { code: "wrong_state" } } });
  });
});
