// One run of each team template through all branches that it has: a crash of the agent, a timeout, a question that
// reaches the user, a crash of the engine while it waits, a rejection, another review, and an override of the gate.
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { EngineLab } from "../engine/engine-lab.ts";
import { SteeredWorld } from "../lab/steered-world.ts";
import { mailboxScenario, report, reports, review, TASKS } from "./mailbox-scenario.ts";
import { completion, leads, message, rejection, reviews, say, teamScenario, verdict } from "./team-scenario.ts";
import type { Engine } from "../../src/engine/engine.ts";
import type { Run } from "../../src/schema/run.ts";
import { Scenario } from "../../src/session/drivers/script/scenario.ts";
import { MemoryStore, newMemoryDisk } from "../../src/store/memory.ts";

const TIMEOUT_MS = 600_000;

let lab: EngineLab;
let world: SteeredWorld;
let engine: Engine;
let disk: ReturnType<typeof newMemoryDisk>;
const open = () => lab.open(new MemoryStore(disk), { world });
beforeEach(() => {
  lab = new EngineLab();
  world = new SteeredWorld();
  disk = newMemoryDisk();
  engine = open();
});
afterEach(async () => {
  for (const each of lab.engines) await each.close();
  lab.tearDown();
});

async function begin(sessions: Scenario["sessions"], templateId: string): Promise<string> {
  const config = { workerTimeout: TIMEOUT_MS };
  const id = await lab.begin(engine, lab.scenario(sessions), { templateId, config });
  await engine.until(id, ({ status }) => status === "confirming");
  await engine.order(id, "confirm");
  return id;
}

const until = (id: string, taskId: string, isReached: (worker: Run["workers"][string]) => boolean) =>
  engine.until(id, ({ workers }) => workers[taskId] !== undefined && isReached(workers[taskId]));

async function timeOut(id: string, taskId: string, attempt: number): Promise<void> {
  await until(id, taskId, (worker) => worker.attempt === attempt && worker.session.turn != null);
  await world.pass(TIMEOUT_MS + 1);
}

/** Kills the engine while the user is asked, and answers to the next one. */
async function answerAfterCrash(id: string, kind: string, question: string, text: string): Promise<void> {
  const isOpen = ({ inbox }: Run) => Object.values(inbox).some((item) => item.kind === kind);
  await engine.until(id, isOpen);
  await engine.close({ leaveRunning: true });
  engine = open();
  await engine.activateAll();
  const run = await engine.until(id, isOpen);
  const item = Object.values(run.inbox).find((each) => each.kind === kind)!;
  expect(item.question).toContain(question);
  await engine.answer(item.id, { text });
}

const countOf = (id: string, type: string, taskId: string): number =>
  engine
    .events({ run: id })
    .filter((each) => each.type === type && (each.data as { taskId?: string }).taskId === taskId).length;

/** The first two attempts crash and hang; the user retries both. */
const CRASH = { say: "hm", then: "crash" };
const HANG = { say: "hm", then: "hang" };

async function retryTwice(id: string, taskId: string): Promise<void> {
  await until(id, taskId, ({ status }) => status === "failed");
  await engine.order(id, "retry", { taskId });
  await timeOut(id, taskId, 2);
  await until(id, taskId, ({ status }) => status === "timeout");
  await engine.order(id, "retry", { taskId });
}

describe("every branch of the template", () => {
  it.each([
    ["feature", "ARCHITECT"],
    ["hotfix", "DEVELOPER"],
    ["design-only", "DESIGNER"],
  ])(
    "%s: crash, timeout, clarify, escalate, reject, and the reviews and override of its gate",
    async (extended, name) => {
      const taskId = name.toLowerCase();
      const isGated = extended !== "design-only";
      const gate = { gate: { environments: { staging: { override: true } } } };
      lab.userTemplate("own", { extends: extended, team: { rejectionLimit: 1 }, ...(isGated ? gate : {}) });
      const asks = message("BLOCKER_ESCALATION", name, {
        blocker_type: "clarification_needed",
        severity: "medium",
        description: "How fast?",
      });
      const toUser = verdict({ message_type: "BLOCKER_ESCALATION", escalate_to: "human" });
      const no = verdict({ message_type: "TASK_REJECTION", reason: "Too slow." });
      const done = { tools: ["Write"], say: say(completion(name)), write: { "{TASK_ID}.md": "done\n" } };
      const attempts = [[CRASH], [HANG], [{ say: say(asks) }, done, done]];
      const sessions = attempts.map((turns, index) => ({
        match: { role: name, task: taskId, attempt: index + 1 },
        turns,
      }));
      const fixed = { match: { role: name }, turns: [done] };
      const lead = leads(toUser, no, verdict());
      const id = await begin(teamScenario([...sessions, fixed, lead, reviews(rejection("a hole"))]), "own");
      await retryTwice(id, taskId);
      await answerAfterCrash(id, "blocker", "How fast?", "Below 100 ms.");

      const isOver = ({ outcome }: Run) => outcome !== null;
      let run = await engine.until(id, isOver);
      expect(run.workers[taskId]).toMatchObject({
        status: "completed",
        attempt: 3,
        rejections: 1,
        session: { turns: 3 },
      });
      expect(["worker:failed", "worker:timeout", "task:rejected"].map((type) => countOf(id, type, taskId))).toEqual([
        1, 1, 1,
      ]);
      const asked = await engine.transcript(id, run.workers[taskId]!.sessionId);
      expect(JSON.stringify(asked)).toContain("Below 100 ms.");
      if (!isGated) return expect(run.outcome).toBe("success");

      // The second review rejects the work of the fix, too. An override lets the deployment through.
      expect(run.tasks.map((task) => task.id)).toContain("security_auditor_2");
      expect(run.workers["deployment"]).toBeUndefined();
      await engine.overrideGate(id, "staging", "ann", "an outage");
      await engine.order(id, "retry", { taskId: "deployment" });
      run = await engine.until(id, (each) => isOver(each) && each.workers["deployment"]?.status === "completed");
      expect(run.gate!["staging"]).toMatchObject({
        state: "overridden",
        overrides: [{ by: "ann", reason: "an outage" }],
      });
    },
  );

  it("team-lead: crash, timeout, clarify, escalate, reject and re-review", async () => {
    const developer = [
      { say: "Which title should the page have?" },
      reports(report()),
      reports(report(), report({ summary: "added a title" })),
    ];
    const [planning, lead, last] = mailboxScenario({
      plan: [TASKS[0]!],
      developer,
      lead: [review(false, "no title"), review(true)],
    });
    const early = [CRASH, HANG].map((turn, index) => ({
      match: { role: "DEVELOPER", attempt: index + 1 },
      turns: [turn],
    }));
    const id = await begin(Scenario.parse({ sessions: [planning, lead, ...early, last] }).sessions, "team-lead");
    await retryTwice(id, "task-001");
    await answerAfterCrash(id, "question", "Which title should the page have?", "Tutti");
    const run = await engine.until(id, ({ outcome }) => outcome !== null);
    expect(run.outcome).toBe("success");
    expect(run.workers["task-001"]).toMatchObject({ attempt: 3, rejections: 1, session: { turns: 3 } });
  });

  it("modes: crash, timeout, clarify, escalate, reject and re-review", async () => {
    const newTask = (taskId: string, context = "") => ({ taskId, delegatedToMode: "code", objective: "x", context });
    const reported = (taskId: string, result: string) => ({ taskId, result, summary: "How fast?" });
    const orchestrator = {
      match: { role: "orchestrator" },
      turns: [
        [newTask("CODE-1")],
        [newTask("CODE-1", "Try again.")],
        [newTask("CODE-2")],
        [reported("REQUEST", "clarification_needed")],
        [newTask("CODE-2", "Faster.")],
        [reported("REQUEST", "success")],
      ].map((messages) => ({ say: say(...messages) })),
    };
    const code = (task: string, attempt: number, turn: object) => ({
      match: { role: "code", task, attempt },
      turns: [turn],
    });
    const succeeds = { tools: ["Write"], write: { "a.md": "a\n" }, say: say(reported("{TASK_ID}", "success")) };
    const sessions = [
      orchestrator,
      code("CODE-1", 1, CRASH),
      code("CODE-1", 2, HANG),
      code("CODE-2", 1, { say: say(reported("{TASK_ID}", "clarification_needed")) }),
      { match: { role: "code" }, turns: [succeeds] },
    ];
    const id = await begin(Scenario.parse({ sessions }).sessions, "modes");
    await timeOut(id, "CODE-1", 2);
    await answerAfterCrash(id, "blocker", "How fast?", "Below 100 ms.");
    const run = await engine.until(id, ({ outcome }) => outcome !== null);
    expect(run.workers["CODE-1"]).toMatchObject({ status: "timeout", attempt: 2 });
    expect(run.workers["CODE-2"]).toMatchObject({ status: "completed", attempt: 3 });
    expect(run.workers["CODE-2"]!.task.delegation!.rejections).toBe(1);
    const results = run.teamMessages!.filter(({ type }) => type === "attempt_completion");
    expect(results.map(({ taskId, body, deliveries }) => [taskId, body["result"], deliveries])).toEqual([
      ["CODE-1", "failure", 1],
      ["CODE-1", "failure", 1],
      ["CODE-2", "clarification_needed", 1],
      ["CODE-2", "success", 1],
      ["CODE-2", "success", 1],
    ]);
  });
});
