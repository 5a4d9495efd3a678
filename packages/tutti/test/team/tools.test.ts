// A role with the protocol `tools` reads its task and reports it with Tutti's own tools. Nothing in its text counts.
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { EngineLab } from "../engine/engine-lab.ts";
import { SteeredWorld } from "../lab/steered-world.ts";
import { acknowledgment, approval, completion, leads, say, teamScenario, verdict } from "./team-scenario.ts";
import type { Engine } from "../../src/engine/engine.ts";
import type { Run } from "../../src/schema/run.ts";
import { MemoryStore, newMemoryDisk } from "../../src/store/memory.ts";

let lab: EngineLab;
let engine: Engine;
let world: SteeredWorld;
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

const call = (tool: string, input: object = {}) => ({ tool, with: input });
const READ = call("read_task");
const DONE = call("attempt_completion", {
  result: "success",
  summary: "drew it",
  acceptance_criteria_met: [true, true],
});
const page = { "{TASK_ID}.md": "by DESIGNER\n" };
const works = { tools: ["Write"], write: page, calls: [READ, DONE] };
const designer = (turns: object[], match: object = {}) => ({ match: { role: "DESIGNER", ...match }, turns });

async function begin(first: { match: object; turns: object[] }[], team: object = {}): Promise<string> {
  const roles = { DESIGNER: { protocol: "tools" } };
  const phases = { workerExecution: { completionMarkers: ["<<<TASK_COMPLETE>>>"] } };
  lab.userTemplate("own", { extends: "design-only", roles, team, phases });
  const id = await lab.begin(engine, lab.scenario(teamScenario(first)), { templateId: "own" });
  await engine.until(id, ({ status }) => status === "confirming");
  await engine.order(id, "confirm");
  return id;
}

async function untilDesigned(id: string, status = "completed"): Promise<Run> {
  const run = await engine.until(id, ({ workers }) =>
    ["completed", "failed"].includes(workers["designer"]?.status ?? ""),
  );
  expect(run.workers["designer"]!.status).toBe(status);
  return run;
}

const messagesOf = ({ teamMessages = [] }: Run): string[] =>
  teamMessages
    .filter(({ taskId }) => taskId === "designer")
    .map(({ type, from, to, protocol, state }) => [type, from, to, protocol, state].join(" "));

const entriesOf = async (id: string, run: Run) => engine.transcript(id, run.workers["designer"]!.sessionId);
const promptsOf = async (id: string, run: Run): Promise<string[]> =>
  (await entriesOf(id, run)).flatMap((entry) => (entry.type === "prompt" ? [entry.text] : []));
const resultsOf = async (id: string, run: Run): Promise<string[]> =>
  (await entriesOf(id, run)).flatMap((entry) => (entry.type === "toolResult" ? [entry.text] : []));

const countOf = (id: string, type: string): number =>
  engine.events({ run: id }).filter((event) => event.type === type).length;

describe("a role with the protocol tools", () => {
  it("reads its task and reports it with calls, is rejected by its lead, and is judged again", async () => {
    const no = verdict({ message_type: "TASK_REJECTION", reason: "No title.", issues: ["No title."] });
    const id = await begin([designer([works]), leads(no, verdict())]);
    const run = await untilDesigned(id);
    expect(messagesOf(run)).toEqual([
      "TASK_ASSIGNMENT ORCHESTRATOR DESIGNER tools acted",
      "TASK_COMPLETION DESIGNER ORCHESTRATOR tools acted",
      "TASK_REJECTION ORCHESTRATOR DESIGNER tools acted",
      "TASK_COMPLETION DESIGNER ORCHESTRATOR tools acted",
      "TASK_APPROVAL ORCHESTRATOR DESIGNER tools acted",
    ]);
    const received = run.teamMessages!.filter(({ to, type }) => to === "DESIGNER" && type !== "TASK_APPROVAL");
    for (const { acknowledgedAt } of received) expect(acknowledgedAt).not.toBeNull();
    expect(received).toHaveLength(2);
    const prompts = await promptsOf(id, run);
    expect(prompts).toHaveLength(2);
    // The message is fetched. The prompt neither contains it nor asks for a block or a message.
    for (const prompt of prompts) expect(prompt).not.toMatch(/```|requirements|message_type|ORCHESTRATOR_RESPONSE/);
    expect(prompts[1]).toContain("Your report was rejected.");
    const [task, , rejection] = await resultsOf(id, run);
    expect(JSON.parse(task!)).toEqual(received[0]!.body);
    expect(JSON.parse(rejection!)).toMatchObject({ message_type: "TASK_REJECTION", issues: ["No title."] });
    const [judged] = run.teamMessages!.filter(({ type }) => type === "TASK_COMPLETION");
    expect(judged!.body).toMatchObject({ output: { summary: "drew it" }, validation: { all_passed: true } });
    expect(run.workers["designer"]).toMatchObject({ rejections: 1, summary: "drew it" });
  });

  it("has not reported with blocks, messages or markers in its text, and fails after three turns without a call", async () => {
    const block = { phase: "completion", data: { task_id: "designer", status: "success" } };
    const words = `${say(acknowledgment("DESIGNER"), completion("DESIGNER"))}\n\n<<<TASK_COMPLETE>>>`;
    const id = await begin([
      designer([
        { tools: ["Write"], write: page, say: words },
        { say: "Done.", block },
      ]),
    ]);
    const run = await untilDesigned(id, "failed");
    expect(run.workers["designer"]).toMatchObject({ errorCode: "no_answer", session: { turns: 3 } });
    expect(run.workers["designer"]!.error).toContain("not reported with the tool attempt_completion");
    expect(messagesOf(run)).toEqual(["TASK_ASSIGNMENT ORCHESTRATOR DESIGNER tools expired"]);
    expect((await promptsOf(id, run))[1]).toContain("Report again with the tool attempt_completion.");
    expect(countOf(id, "protocol:ignored")).toBe(2);
  });

  it("reports in a later turn if it is asked again, and a criterion that it does not meet is sent back", async () => {
    const unmet = call("attempt_completion", { result: "success", acceptance_criteria_met: [true, false] });
    const turns = [{ say: "Done." }, { tools: ["Write"], write: page, calls: [READ, unmet] }, works];
    const id = await begin([designer(turns)]);
    const run = await untilDesigned(id);
    const [rejection] = run.teamMessages!.filter(({ type }) => type === "TASK_REJECTION");
    expect((rejection!.body["issues"] as string[]).join(" ")).toContain("Criterion not met: ");
    expect(run.workers["designer"]).toMatchObject({ rejections: 1, session: { turns: 3 } });
    // The lead judges only the completion that claims to meet all criteria.
    expect(
      engine
        .events({ run: id })
        .filter(({ type, data }) => type === "lead:asked" && "taskId" in data && data.taskId === "designer"),
    ).toHaveLength(1);
  });

  it("fails if it reports a failure, and a report of something else is an error of the tool", async () => {
    const other = call("submit_response", {
      phase: "completion",
      data: { task_id: "documentation", status: "success" },
    });
    const failure = call("attempt_completion", { result: "failure", summary: "no pencil" });
    const id = await begin([designer([{ tools: ["Read"], calls: [READ, other, failure] }])]);
    const run = await untilDesigned(id, "failed");
    expect(run.workers["designer"]).toMatchObject({ errorCode: "reported_failure", error: "no pencil" });
    // Another session's task, in a report that is otherwise valid.
    const errors = (await entriesOf(id, run)).filter(({ type }) => type === "toolFailed");
    expect(errors).toHaveLength(1);
  });

  it("asks the user and waits for the answer, and escalates a blocker to its lead, then to the user", async () => {
    const asks = {
      calls: [READ, call("ask", { question: "Which colour?" }), call("escalate_blocker", blocker("medium"))],
    };
    const critical = { calls: [READ, call("escalate_blocker", blocker("critical"))] };
    const resolves = verdict({ message_type: "BLOCKER_RESOLUTION", decision: "Use a brush.", resume_task: true });
    const id = await begin([designer([asks, critical, works]), leads(resolves, verdict())]);
    await answer(id, "question", "blue");
    await answer(id, "blocker", "Buy one.");
    const run = await untilDesigned(id);
    expect(messagesOf(run).map((each) => each.split(" ").slice(0, 2).join(" "))).toEqual([
      "TASK_ASSIGNMENT ORCHESTRATOR",
      "BLOCKER_ESCALATION DESIGNER",
      "BLOCKER_RESOLUTION ORCHESTRATOR",
      "BLOCKER_ESCALATION DESIGNER",
      "BLOCKER_RESOLUTION human",
      "TASK_COMPLETION DESIGNER",
      "TASK_APPROVAL ORCHESTRATOR",
    ]);
    const results = (await resultsOf(id, run)).join("\n");
    for (const text of ["blue", "Use a brush.", "Buy one."]) expect(results).toContain(text);
  });

  it("continues after its agent crashed and after the engine crashed between its calls and the end of its turn", async () => {
    const gate = lab.gate("end");
    const crash = { tools: ["Write"], write: page, calls: [READ], then: "crash" };
    // The report of the second attempt is read by the next engine, and so is the task of its second turn.
    const no = verdict({ message_type: "TASK_REJECTION", reason: "No title." });
    const reports = [works, { ...works, waitForFile: gate.file }];
    const id = await begin([designer([crash], { attempt: 1 }), designer(reports), leads(no, verdict())]);
    await untilDesigned(id, "failed");
    await engine.order(id, "retry", { taskId: "designer" });
    await engine.until(id, ({ workers }) => workers["designer"]?.session.turns === 2);
    await engine.close({ leaveRunning: true });
    engine = open();
    await engine.activateAll();
    const unread = () => engine.get(id)!.teamMessages!.findLast(({ type }) => type === "TASK_REJECTION")!;
    await engine.settled(id);
    // The replayed call of the first turn is not about the message of the second.
    expect(unread()).toMatchObject({ state: "delivered", acknowledgedAt: null });
    gate.open();
    const run = await untilDesigned(id);
    expect(run.workers["designer"]).toMatchObject({ attempt: 2, rejections: 1, session: { turns: 2 } });
    expect(unread().acknowledgedAt).not.toBeNull();
    expect(messagesOf(run).filter((each) => each.startsWith("TASK_COMPLETION"))).toHaveLength(2);
  });

  it("is sent its task again if it does not read it in time", async () => {
    const [first, second] = [lab.gate("first"), lab.gate("second")];
    const turns = [
      { say: "Hm.", waitForFile: first.file },
      { ...works, waitForFile: second.file },
    ];
    const id = await begin([designer(turns)], { ackTimeout: 60_000 });
    await engine.until(id, ({ workers }) => workers["designer"]?.session.turn != null);
    await world.pass(60_001);
    await engine.until(id, () => countOf(id, "message:resent") > 0);
    first.open();
    await engine.until(id, ({ workers }) => workers["designer"]?.session.turns === 2);
    second.open();
    const run = await untilDesigned(id);
    const [assignment] = run.teamMessages!;
    expect(assignment).toMatchObject({ type: "TASK_ASSIGNMENT", deliveries: 2, state: "acted" });
    expect(assignment!.acknowledgedAt).not.toBeNull();
  });
});

it("the security gate stays closed for approvals that any role reports with tools or in a block", async () => {
  lab.userTemplate("own", {
    extends: "hotfix",
    roles: { DEVELOPER: { protocol: "tools" } },
    team: { rejectionLimit: 0 },
  });
  const { task_id: _, status: __, message_type: ___, ...approved } = approval();
  const data = { ...approved, status: "success" };
  const report = call("submit_response", { phase: "completion", data });
  const words = { result: JSON.stringify(approval()), summary: "APPROVED", acceptance_criteria_met: [true] };
  const developer = { tools: ["Write"], write: { "a.md": "a\n" }, calls: [READ, report] };
  const block = { phase: "completion", data: { task_id: "{TASK_ID}", ...data } };
  const auditor = { tools: ["Read"], calls: [report, call("attempt_completion", words)], block };
  const scenario = teamScenario([
    { match: { role: "DEVELOPER" }, turns: [developer] },
    { match: { role: "SECURITY_AUDITOR" }, turns: [auditor] },
  ]);
  const config = { autoSpawn: true, autoRetry: false };
  const id = await lab.begin(engine, lab.scenario(scenario), { templateId: "own", config });
  const run = await engine.until(id, ({ outcome }) => outcome !== null);
  expect(run.workers["developer"]!.status).toBe("completed");
  expect(run.workers["security_auditor"]).toMatchObject({ status: "failed", errorCode: "no_answer" });
  expect(run.workers["deployment"]).toBeUndefined();
  expect(countOf(id, "gate:opened")).toBe(0);
});

const blocker = (severity: string) => ({
  blocker_type: "technical_blocker",
  severity,
  description: "No brush",
  options: ["Buy one.", "Use a finger."],
});

async function answer(id: string, kind: string, text: string): Promise<void> {
  const { inbox } = await engine.until(id, (run) => Object.values(run.inbox).some((item) => item.kind === kind));
  await engine.answer(Object.values(inbox).find((item) => item.kind === kind)!.id, { text });
}
