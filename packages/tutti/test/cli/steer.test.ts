// The commands that steer runs, on real repositories.
import { once } from "node:events";
import { join } from "node:path";
import { writeFileSync } from "node:fs";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { findRun } from "../../src/cli/access/find-run.ts";
import { openLocalEngine } from "../../src/main/local-engine.ts";
import { InProcessLab } from "./in-process.ts";
import { done, goodWorker, mainSession, worker, type ScriptedTask } from "../lab/scenarios.ts";
import { onTerminal } from "../lab/terminal.ts";

let lab: InProcessLab;
beforeEach(() => {
  lab = new InProcessLab();
});
afterEach(() => lab.tearDown());

const processes = () => lab.leftovers().filter((left) => left.startsWith("process"));
const failingOnce = {
  match: { role: "worker", task: "a", attempt: 1 },
  turns: [{ block: { phase: "completion", data: { task_id: "{TASK_ID}", status: "failed", error: "no luck" } } }],
};

/** Creates a run that waits for confirmation. */
async function waitingPlan(tasks: ScriptedTask[], ...sessions: object[]): Promise<string> {
  const agent = lab.scenario([...mainSession(tasks), ...sessions]);
  const local = openLocalEngine({ dataDir: lab.data });
  const { engine } = local;
  const { id } = await engine.create({ templateId: "_default", cwd: lab.repo, message: "x", agent });
  await engine.order(id, "start");
  await engine.until(id, ({ status }) => status === "confirming");
  await local.close();
  return id;
}

async function statusOf(id: string): Promise<string | undefined> {
  const { last, stderr } = await lab.json(["status", id]);
  expect(stderr).toBe("");
  return last.status;
}

describe("tutti start", () => {
  it("starts a created run by a prefix of its id, and follows it", async () => {
    const agent = lab.scenario([...mainSession([{ id: "a" }]), goodWorker]);
    const local = openLocalEngine({ dataDir: lab.data });
    const { id } = await local.engine.create({ templateId: "documentation", cwd: lab.repo, message: "x", agent });
    await local.close();
    const { code, last } = await lab.json(["start", id.slice(5, 12), "--yes"]);
    expect([code, last.id, last.outcome]).toEqual([0, id, "success"]);
    expect(lab.leftovers()).toEqual([]);
    expect(await lab.json(["start", id])).toMatchObject({ code: 4, last: { error: { code: "wrong_state" } } });
  });
});

describe("an id prefix", () => {
  const runs = [{ id: "orch_aab" }, { id: "orch_abc" }, { id: "orch_abcd" }];

  it("selects the only matching run, with or without orch_; a complete id selects its own run", () => {
    expect(findRun(runs, "orch_aa").id).toBe("orch_aab");
    expect(findRun(runs, "aa").id).toBe("orch_aab");
    expect(findRun(runs, "orch_abc").id).toBe("orch_abc");
    expect(() => findRun(runs, "ab")).toThrow('"ab" matches several ids: orch_abc, orch_abcd');
    expect(() => findRun(runs, "b")).toThrow('Run "b" does not exist');
    expect(() => findRun(runs, "")).toThrow('Run "" does not exist');
  });

  it("without a match is exit 3 for every command", async () => {
    for (const args of [
      ["start", "x"],
      ["pause", "x"],
      ["resume", "x"],
      ["delete", "x"],
      ["retry", "x", "a"],
    ]) {
      expect(await lab.json(args)).toMatchObject({ code: 3, last: { error: { code: "run_not_found" } } });
    }
  });
});

describe("tutti pause and resume", () => {
  it("stop a run, and continue it where it was", async () => {
    const id = await waitingPlan([{ id: "a" }], goodWorker);
    const paused = await lab.json(["pause", id]);
    expect([paused.code, paused.last]).toEqual([0, { id, status: "paused", pausedFrom: "confirming" }]);
    expect(await lab.json(["pause", id])).toMatchObject({ code: 4, last: { error: { code: "wrong_state" } } });
    const attached = await lab.tutti(["attach", id]);
    expect([attached.code, attached.stderr]).toEqual([4, expect.stringContaining(`tutti resume ${id}`)]);
    expect((await lab.tutti(["status", id])).stdout).toContain("is paused by the user");
    const { code, last } = await lab.json(["resume", id, "--yes"]);
    expect([code, last.outcome]).toEqual([0, "success"]);
    expect(await lab.json(["resume", id])).toMatchObject({ code: 4, last: { error: { code: "wrong_state" } } });
  });

  it("end sessions of a killed engine, and start a new attempt of their tasks", async () => {
    lab.playsAgents = false;
    const hanging = { match: { role: "worker", task: "a", attempt: 1 }, turns: [{ say: "hm", then: "hang" }] };
    const id = await waitingPlan([{ id: "a" }], hanging, goodWorker);
    const child = lab.start(["confirm", id]);
    const closed = once(child, "close");
    await expect.poll(() => lab.events().filter(({ type }) => type === "worker:started")).toHaveLength(1);
    child.kill("SIGKILL");
    await closed;
    expect(processes()).not.toEqual([]);
    expect((await lab.tutti(["pause", id])).stdout).toBe(`${id} is paused. Resume it with: tutti resume ${id}\n`);
    expect(processes()).toEqual([]);
    expect(await statusOf(id)).toBe("paused");
    const { last } = await lab.json(["resume", id]);
    expect(last).toMatchObject({ outcome: "success", census: { completed: 1 } });
    expect(lab.leftovers()).toEqual([]);
  });
});

describe("--task", () => {
  it("pauses, resumes and cancels one worker, while the run continues", async () => {
    const hanging = { match: { role: "worker", task: "a", attempt: 1 }, turns: [{ say: "hm", then: "hang" }] };
    const after = worker("b", ...goodWorker.turns);
    const id = await waitingPlan([{ id: "a" }, { id: "b" }, { id: "c", dependencies: ["a"] }], hanging, after);
    const followed = lab.json(["confirm", id]);
    // Both workers have started, and `b` has completed.
    const begun = () => lab.events().filter(({ type }) => type === "worker:started" || type === "worker:completed");
    await expect.poll(begun).toHaveLength(3);
    const paused = await lab.json(["pause", id, "--task", "a"]);
    expect([paused.code, paused.last]).toEqual([0, { id, taskId: "a", status: "paused" }]);
    expect(await statusOf(id)).toBe("running");
    const refused = (...args: string[]) => lab.json([...args, "--task", args[0] === "pause" ? "nobody" : "c"]);
    expect(await refused("pause", id)).toMatchObject({ code: 3, last: { error: { code: "task_not_found" } } });
    expect(await refused("cancel", id)).toMatchObject({ code: 4, last: { error: { code: "wrong_state" } } });
    const resumed = lab.json(["resume", id, "--task", "a"]);
    await expect.poll(() => lab.events().some(({ type }) => type === "worker:resumed")).toBe(true);
    // The commands of one process share their output, so only the last line is that of this command.
    const cancelled = await lab.tutti(["cancel", id, "--task", "a"]);
    expect(cancelled.stdout).toMatch(new RegExp(`a of ${id} is cancelled. Retry it with: tutti retry ${id} a\n$`));
    await Promise.all([followed, resumed]);
    const { last } = await lab.json(["status", id]);
    expect(last).toMatchObject({ status: "completed", outcome: "degraded" });
    const endings = lab.events().filter(({ type }) => /^(worker:(paused|resumed|cancelled)|task:blocked)$/.test(type));
    expect(endings.map(({ type, data }) => [type, (data as { taskId: string }).taskId])).toEqual([
      ["worker:paused", "a"],
      ["worker:resumed", "a"],
      ["worker:cancelled", "a"],
      ["task:blocked", "c"],
    ]);
  });
});

describe("tutti confirm", () => {
  const tasks = [{ id: "a" }, { id: "b", dependencies: ["a"] }, { id: "c" }];

  it("skips tasks, and lists on stderr the tasks that will not start without them", async () => {
    const id = await waitingPlan(tasks, goodWorker);
    const { code, stdout, stderr } = await lab.tutti(["confirm", id, "--skip", "a"]);
    expect(stderr).toContain("b will not start, because a is skipped");
    expect(stdout).toContain("degraded: 3 planned, 1 completed, 1 skipped, 1 blocked");
    expect(code).toBe(1);
  });

  it("asks on a terminal whether the dependents of a skipped task may start anyway", async () => {
    const id = await waitingPlan(tasks, goodWorker);
    const child = onTerminal(["--data-dir", lab.data, "confirm", id, "--skip", "a"]);
    let shown = "";
    child.stdout.on("data", (text: string) => {
      shown += text;
      if (text.includes("[y/n]")) child.stdin.write("y\n");
    });
    const [code] = (await once(child, "close")) as [number];
    expect(shown).toContain("a is skipped. These tasks depend on it: b.");
    expect(shown).toContain("success: 3 planned, 2 completed, 1 skipped");
    expect(code).toBe(0);
  });

  it("reads changes from the terminal, and then asks there", async () => {
    const id = await waitingPlan(tasks, goodWorker);
    const child = onTerminal(["--data-dir", lab.data, "confirm", id, "--edit", "-"]);
    // Two ends of the input: the first only sends the line.
    child.stdin.write('{"modifications":{"a":{"skip":true}}}\n\u0004');
    let shown = "";
    child.stdout.on("data", (text: string) => {
      shown += text;
      if (text.includes("[y/n]")) child.stdin.write("y\n");
    });
    const [code] = (await once(child, "close")) as [number];
    expect(shown).toContain("success: 3 planned, 2 completed, 1 skipped");
    expect(code).toBe(0);
  });

  it("reads changes from a file, and refuses invalid ones", async () => {
    const id = await waitingPlan(tasks, goodWorker);
    const file = join(lab.folder, "changes.json");
    const refused: [string, number][] = [
      ["{", 2],
      ['{"modifications":{"a":{"priority":0}}}', 2],
      ['{"removed":["nobody"]}', 4],
    ];
    for (const [text, code] of refused) {
      writeFileSync(file, text);
      expect((await lab.json(["confirm", id, "--edit", file])).code, text).toBe(code);
    }
    expect((await lab.json(["confirm", id, "--edit", join(lab.folder, "none")])).code).toBe(3);
    expect(await statusOf(id)).toBe("confirming");
    const changes = {
      modifications: { a: { skip: true, satisfied: true }, b: { title: "Better" } },
      added: [{ id: "d", title: "One more", description: "Do it" }],
      removed: ["c"],
    };
    writeFileSync(file, JSON.stringify(changes));
    const { code, last } = await lab.json(["confirm", id, "--edit", file]);
    expect([code, last.census]).toMatchObject([0, { planned: 3, completed: 2, skipped: 1 }]);
    expect(last.outputFiles).toEqual(["docs/b.md", "docs/d.md"]);
    expect(lab.git("show", `tutti/${id}:docs/b.md`)).toBe("# Better");
  });
});

describe("tutti retry", () => {
  it("retries a failed task of an ended run, and refuses any other task", async () => {
    const id = await waitingPlan([{ id: "a" }, { id: "b" }], failingOnce, goodWorker);
    expect((await lab.json(["confirm", id])).last.outcome).toBe("degraded");
    expect((await lab.json(["retry", id, "nobody"])).code).toBe(3);
    expect((await lab.json(["retry", id, "b"])).code).toBe(4);
    const { code, last } = await lab.json(["retry", id, "a"]);
    expect([code, last]).toMatchObject([0, { outcome: "success", census: { completed: 2 } }]);
    expect(lab.leftovers()).toEqual([]);
  });
});

describe("tutti inbox", () => {
  it("lists open items with their request and the command that answers them, newest first", async () => {
    expect((await lab.tutti(["inbox"])).stdout).toBe("Nothing waits for your answer.\n");
    const asking = worker("b", { write: { "b.md": "b" }, then: "ask:Tabs or spaces?" }, { block: done({}) });
    const id = await waitingPlan([{ id: "a" }, { id: "b" }], failingOnce, asking);
    const [plan] = (await lab.json(["inbox"])).last as unknown as { id: string }[];
    expect(plan).toMatchObject({ kind: "plan", run: id, createdAt: expect.stringMatching(/Z$/) });
    expect((await lab.tutti(["inbox"])).stdout).toContain(`tutti confirm ${id}`);
    expect((await lab.json(["confirm", id])).last.error!.code).toBe("needs_answer");
    const items = (await lab.json(["inbox"])).last as unknown as { id: string; kind: string }[];
    const failure = items.find(({ kind }) => kind === "failure")!;
    const question = items.find(({ kind }) => kind === "question")!;
    expect(items).toHaveLength(2);
    expect(failure).toMatchObject({ taskId: "a", options: ["try it again", "leave it"] });
    expect(question).toMatchObject({ taskId: "b", question: "Tabs or spaces?" });
    const { stdout } = await lab.tutti(["inbox"]);
    // A slow machine has asked it some minutes ago.
    expect(stdout.replace(/\d+ min ago/g, "just now")).toContain(
      `${question.id}  question  ${id}  b  just now\n  Request: x\n  Tabs or spaces?\n`,
    );
    expect(stdout.match(/^item_\w+/gm)).toEqual(items.map((item) => item.id).toReversed());
    expect(stdout).toContain(
      `    0  try it again\n    1  leave it\n  tutti retry ${id} a, or tutti answer ${failure.id} --option 1 to leave it`,
    );
    const { last } = await lab.json(["answer", question.id, "spaces"]);
    expect(last).toMatchObject({ outcome: "degraded", census: { completed: 1, failed: 1 } });
    await lab.json(["answer", failure.id, "--option", "1"]);
    expect((await lab.json(["inbox"])).last).toEqual([]);
  });
});

describe("tutti answer", () => {
  it("rejects a plan with a change request, and approves the next one", async () => {
    const id = await waitingPlan([{ id: "a" }], goodWorker);
    const planItem = async () => ((await lab.json(["inbox"])).last as unknown as { id: string }[])[0]!.id;
    const first = await planItem();
    const rejected = await lab.json(["answer", first, "--reject", "shorter"]);
    expect(rejected).toMatchObject({ code: 4, last: { error: { code: "needs_confirmation" } } });
    expect(lab.events().find(({ type }) => type === "orchestrator:changesRequested")!.data).toMatchObject({
      text: "shorter",
    });
    const second = await planItem();
    expect(second).not.toBe(first);
    expect((await lab.json(["answer", second, "--approve", "--option", "1"])).code).toBe(2);
    expect(await statusOf(id)).toBe("confirming");
    expect((await lab.json(["answer", second, "--approve"])).last.outcome).toBe("success");
  });
});

describe("tutti delete", () => {
  it("removes a run from the lists and archives its transcripts; its branch stays", async () => {
    const id = await waitingPlan([{ id: "a" }], goodWorker);
    await lab.json(["confirm", id]);
    const { code, last } = await lab.json(["delete", id]);
    expect([code, last]).toEqual([0, { id, archived: 1, deleted: 0, removed: true, errors: [] }]);
    expect((await lab.json(["list"])).last).toEqual([]);
    expect((await lab.json(["status", id])).code).toBe(3);
    expect(lab.git("show", `tutti/${id}:docs/a.md`)).toBe("# Title of a");
  });

  it("with --keep-state cancels and cleans up, but keeps the run", async () => {
    const id = await waitingPlan([{ id: "a" }], goodWorker);
    const { stdout, stderr } = await lab.tutti(["delete", id, "--keep-state", "--no-archive", "--delete-workers"]);
    expect([stdout, stderr]).toEqual([`${id} is cleaned up, 0 sessions removed\n`, ""]);
    expect(await statusOf(id)).toBe("cancelled");
  });
});
