// Whole runs of `team-lead` (document 001) with roles that use the files of the mailbox.
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { EngineLab, untilOver } from "../engine/engine-lab.ts";
import { FAILED_BUILD, mailboxScenario, report, reports, review, TASKS } from "./mailbox-scenario.ts";
import { SteeredWorld } from "../lab/steered-world.ts";
import type { Engine } from "../../src/engine/engine.ts";
import { queuedTasks, stepsOf } from "../../src/run/team/mailbox-state.ts";
import { MemoryStore, newMemoryDisk } from "../../src/store/memory.ts";

let lab: EngineLab;
let engine: Engine;
beforeEach(() => {
  lab = new EngineLab();
  engine = lab.open();
});
afterEach(async () => {
  for (const each of lab.engines) await each.close();
  lab.tearDown();
});

const begin = (roles: Parameters<typeof mailboxScenario>[0] = {}, templateId = "team-lead") =>
  lab.begin(engine, lab.scenario(mailboxScenario(roles)), { templateId });

const fileIn = (id: string, name: string): string => readFileSync(join(lab.data, "mailboxes", id, name), "utf8");
const jsonIn = <T>(id: string, name: string): T => JSON.parse(fileIn(id, name)) as T;

interface Queue {
  tasks: { id: string; status: string; rejectionReason?: string; acceptanceCriteria?: string[] }[];
  completed: string[];
  current: string | null;
}

const logOf = (id: string): string[] => fileIn(id, "logs/log.md").match(/(?<=task-001 is )\w+/g) ?? [];

const promptsOf = async (id: string, session: string): Promise<string[]> =>
  (await engine.transcript(id, session)).flatMap((entry) => (entry.type === "prompt" ? [entry.text] : []));

describe("the team of document 001", () => {
  it("works through the files of the mailbox, task by task (D1-036..D1-038, D1-042, D1-044..D1-046, D1-058)", async () => {
    const id = await begin();
    const planned = await engine.until(id, ({ status }) => status === "confirming");
    expect(planned.tasks.map(({ role, acceptanceCriteria }) => [role, acceptanceCriteria])).toEqual([
      ["DEVELOPER", ["task-001.md exists."]],
      ["DEVELOPER", ["task-002.md exists."]],
    ]);
    const run = await untilOver(engine, id);
    expect(run).toMatchObject({ status: "completed", outcome: "success" });
    expect(run.teamMessages!.map(({ type, from, to, protocol, state }) => [type, from, to, protocol, state])).toEqual(
      TASKS.flatMap(() => [
        ["task_assignment", "TEAM_LEAD", "DEVELOPER", "mailbox", "acted"],
        ["completion_report", "DEVELOPER", "TEAM_LEAD", "mailbox", "acted"],
        ["review_result", "TEAM_LEAD", "DEVELOPER", "mailbox", "acted"],
      ]),
    );
    const [assignment] = run.teamMessages!;
    const folder = join(lab.data, "mailboxes", id);
    expect(assignment!.body).toMatchObject({
      type: "task_assignment",
      taskId: "task-001",
      platform: "custom",
      filesToCreate: ["task-001.md"],
      workspace: expect.stringContaining("task-001") as string,
      reportTo: join(folder, "to-team-lead.json"),
    });
    expect(lab.git("ls-tree", "--name-only", run.head!)).toContain("task-002.md");

    const queue = jsonIn<Queue>(id, "queue.json");
    expect(queue.tasks.map(({ status }) => status)).toEqual(["completed", "completed"]);
    expect(queue).toMatchObject({ completed: ["task-001", "task-002"], current: null });
    expect(jsonIn(id, "status.json")).toMatchObject({
      orchestrator: { running: false },
      developer: { status: "idle", currentTask: null },
      lastCycle: { completed: 2, failed: 0, remaining: 0 },
    });
    const states = ["pending", "in_progress", "awaiting_review", "completed"];
    expect(logOf(id)).toEqual(states);
    const shown = engine.replay(id).steps.flatMap((step) => queuedTasks(step.run).slice(0, 1));
    expect([...new Set(shown.map(({ status }) => status))]).toEqual(states);
    // Every spelling of the path is the same file.
    for (const path of ["to-developer.json", "messages/to-developer.json", "tasks/messages/to-developer.json"])
      expect(jsonIn(id, path)).toMatchObject({ messages: [], lastRead: expect.any(String) as string });
    expect(fileIn(id, ".claude-orchestrator/tasks/queue.json")).toBe(fileIn(id, "queue.json"));
    expect(fileIn(id, ".tutti/archive/developer.jsonl").match(/"type":"task_assignment"/g)).toHaveLength(2);

    const [toDeveloper] = await promptsOf(id, run.workers["task-001"]!.sessionId);
    expect(toDeveloper).toContain(join(folder, "to-developer.json"));
    expect(toDeveloper).toMatch(/If the build fails, fix it. If you cannot, report honestly/);
    expect(toDeveloper).toMatch(/no instructions, report that in "summary" with "not_verified"/);
    const toLead = (await promptsOf(id, run.main!.sessionId)).find((text) => text.includes("review_result"));
    expect(toLead).toContain("task-001.md exists.");
    expect(toLead).toContain('"type": "completion_report"');

    await engine.cleanup(id);
    expect(existsSync(folder)).toBe(false);
  });

  it("assigns a rejected task again, with the reason in the queue (D1-035, D1-039, D1-040, D1-048..D1-050)", async () => {
    const again = report({ summary: "added a title" });
    const developer = [reports(report()), reports(report(), again)];
    const id = await begin({ plan: [TASKS[0]!], developer, lead: [review(false, "no title"), review(true)] });
    const run = await untilOver(engine, id);
    expect(run.outcome).toBe("success");
    expect(run.workers["task-001"]).toMatchObject({ attempt: 1, rejections: 1, session: { turns: 2 } });
    const assigned = run.teamMessages!.filter(({ type }) => type === "task_assignment");
    expect(assigned.map(({ body }) => body["rejectionReason"])).toEqual([undefined, "no title"]);
    expect(jsonIn<Queue>(id, "queue.json").tasks[0]).toMatchObject({
      status: "completed",
      rejectionReason: "no title",
    });
    const first = ["pending", "in_progress", "awaiting_review", "rejected"];
    expect(logOf(id)).toEqual([...first, "pending", "in_progress", "awaiting_review", "completed"]);
    expect((await engine.result(id)).metrics).toMatchObject({ rejectionRate: 1 / 2 });
  });

  it("sends a failed build back without a review, and leaves the task to the user after the limit (D1-041, D1-047)", async () => {
    const broken = (count: number) => report({ buildResult: FAILED_BUILD, summary: `try ${count}` });
    const developer = [1, 2, 3].map((last) => reports(...Array.from({ length: last }, (_, i) => broken(i + 1))));
    const id = await begin({ plan: [TASKS[0]!], developer });
    const run = await untilOver(engine, id);
    expect(run.workers["task-001"]).toMatchObject({ status: "failed", errorCode: "rejected", session: { turns: 3 } });
    expect(run.workers["task-001"]!.error).toContain("TS2304: x is missing");
    expect(engine.events({ run: id }).some(({ type }) => type === "lead:asked")).toBe(false);
    expect(Object.values(run.inbox).map(({ kind }) => kind)).toContain("failure");
    expect(jsonIn<Queue>(id, "queue.json").tasks[0]).toMatchObject({ status: "rejected" });
    expect(logOf(id).slice(-2)).toEqual(["in_progress", "rejected"]);
  });

  it("asks again for a report that is missing or damaged, also after a crash (D1-043)", async () => {
    const go = join(lab.folder, "go");
    const box = "{TUTTI_MAILBOX}/to-team-lead.json";
    const developer = [
      { ...reports(report({ taskId: "task-009" })), waitForFile: go },
      { ...reports(), write: { "task-001.md": "x\n", [box]: "{ not json" } },
      reports(report({ type: "task_assignment" }), report({ buildResult: { status: "not_verified" } })),
    ];
    const disk = newMemoryDisk();
    engine = lab.open(new MemoryStore(disk));
    const id = await begin({ plan: [TASKS[0]!], developer });
    await engine.until(id, ({ status }) => status === "confirming");
    await engine.order(id, "confirm");
    await engine.until(id, ({ workers }) => workers["task-001"]?.session.turn != null);
    await engine.close({ leaveRunning: true });
    writeFileSync(go, "");
    engine = lab.open(new MemoryStore(disk));
    await engine.activateAll();
    const run = await untilOver(engine, id);
    expect(run.outcome).toBe("success");
    expect(run.workers["task-001"]!.session.turns).toBe(3);
    const toLead = (await promptsOf(id, run.main!.sessionId)).find((text) => text.includes("review_result"));
    expect(toLead).toContain("The build was not verified.");
    const sent = run.teamMessages!.filter(({ from }) => from === "DEVELOPER");
    expect(sent.map(({ type, state }) => [type, state])).toEqual([
      ["task_assignment", "rejected"],
      ["completion_report", "acted"],
    ]);
  });

  it("gives a task that the user adds to its developer, and rejects completed work that is sent back", async () => {
    const id = await begin({ plan: [TASKS[0]!] });
    await engine.until(id, ({ status }) => status === "confirming");
    const added = [
      { id: "more", title: "More", description: "Write more.md.", scope: [], priority: 5, dependencies: ["task-001"] },
    ];
    await engine.order(id, "confirm", { added });
    const run = await untilOver(engine, id);
    expect(run.outcome).toBe("success");
    expect(run.workers["more"]!.task.role).toBe("DEVELOPER");
    expect(jsonIn<Queue>(id, "queue.json").completed).toEqual(["task-001", "more"]);
    const written = { status: "completed" as const, rejections: 0 };
    expect(stepsOf(written, { status: "in_progress", rejections: 0 })).toEqual(["rejected", "pending", "in_progress"]);
  });

  /** A run with a developer outside, which has its first task. `answer` leaves its report. */
  async function withOutside(lead: NonNullable<Parameters<typeof mailboxScenario>[0]>["lead"]) {
    const config = { workerTimeout: 3_600_000, idleTimeout: 3_600_000 };
    lab.userTemplate("with-outside", { extends: "team-lead", config, roles: { DEVELOPER: { agent: "outside" } } });
    const id = await begin({ plan: [TASKS[0]!], lead: lead! }, "with-outside");
    await engine.until(id, ({ status }) => status === "confirming");
    await engine.order(id, "confirm");
    const folder = join(lab.repo, ".tutti", "mailbox", id);
    const read = (name: string) => JSON.parse(readFileSync(join(folder, name), "utf8")) as BoxFile;
    const nextTask = (count: number) =>
      expect
        .poll(() => (existsSync(join(folder, "to-developer.json")) ? read("to-developer.json").messages.length : 0))
        .toBe(count);
    await nextTask(1);
    const { workspace } = read("to-developer.json").messages[0]!;
    const answer = (summary: string) => {
      writeFileSync(join(workspace, "task-001.md"), `${summary}\n`);
      const { messages } = read("to-team-lead.json");
      const mine = { ...report({ taskId: "task-001" }), summary, filesCreated: ["task-001.md"] };
      writeFileSync(
        join(folder, "to-team-lead.json"),
        JSON.stringify({ messages: [...messages, mine], lastRead: null }),
      );
    };
    return { id, read, nextTask, answer };
  }

  it("includes an agent outside that only reads and writes the files, also while no engine runs", async () => {
    const disk = newMemoryDisk();
    engine = lab.open(new MemoryStore(disk));
    const { id, read, nextTask, answer } = await withOutside([review(false, "say more"), review(true)]);
    expect(lab.git("status", "--porcelain")).toBe("");
    await engine.close();
    answer("first");
    engine = lab.open(new MemoryStore(disk));
    await engine.activateAll();
    await nextTask(2);
    answer("second");
    const run = await engine.until(id, ({ outcome }) => outcome !== null);
    expect(await engine.result(id)).toMatchObject({ outcome: "success", causes: [] });
    expect(lab.git("show", `${run.head!}:task-001.md`)).toBe("second");
    await engine.settled(id);
    expect(read("queue.json")).toMatchObject({ tasks: [{ status: "completed" }] });
  });

  it("counts the report of an agent outside that came during a pause, even if its time runs out after that", async () => {
    const world = new SteeredWorld();
    engine = lab.open(new MemoryStore(), { world });
    const { id, answer } = await withOutside([review(true)]);
    await engine.order(id, "pause");
    await engine.until(id, ({ workers }) => workers["task-001"]!.session.turn === null);
    answer("in time");
    await engine.order(id, "resume");
    await world.pass(3_601_000);
    const run = await engine.until(id, ({ outcome }) => outcome !== null);
    expect(run.workers["task-001"]!.status).toBe("completed");
    expect(run.outcome).toBe("success");
  });
});

interface BoxFile {
  messages: { workspace: string }[];
}
