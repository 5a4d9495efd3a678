// The deadline of a role's task: an event and a reminder, then a question to the user; and the metrics of teams.
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { EngineLab } from "../engine/engine-lab.ts";
import { parseMetrics } from "../telemetry/parse-metrics.ts";
import { acknowledgment, completion, leads, role, say, teamScenario, verdict } from "./team-scenario.ts";
import type { Engine } from "../../src/engine/engine.ts";
import type { StoredEvent } from "../../src/schema/event.ts";
import type { Run } from "../../src/schema/run.ts";
import { Scenario } from "../../src/session/drivers/script/scenario.ts";
import { engineMetrics } from "../../src/telemetry/engine-metrics.ts";
import { renderMetrics } from "../../src/telemetry/metric.ts";

let lab: EngineLab;
let engine: Engine;
let metrics: ReturnType<typeof engineMetrics>;
beforeAll(() => {
  lab = new EngineLab();
  engine = lab.open();
  // A second ahead, so that no age is zero.
  metrics = engineMetrics(engine, () => Date.now() + 1000);
  lab.userTemplate("timed", { extends: "design-only", team: { deadline: 30 } });
});
afterAll(async () => {
  metrics.close();
  for (const each of lab.engines) await each.close();
  lab.tearDown();
});

const eventsOf = (id: string, type: StoredEvent["type"], taskId: string) =>
  engine
    .events({ run: id })
    .filter((event) => event.type === type && "taskId" in event.data && event.data.taskId === taskId);

async function begin(sessions: Parameters<typeof teamScenario>[0], templateId = "timed"): Promise<string> {
  const id = await lab.begin(engine, lab.scenario(teamScenario(sessions)), { templateId });
  await engine.until(id, ({ status }) => status === "confirming");
  await engine.order(id, "confirm");
  return id;
}

const itemAbout = ({ inbox }: Run, taskId: string) =>
  Object.values(inbox).find((item) => item.kind === "blocker" && item.taskId === taskId);

const untilAsked = async (id: string, taskId: string) =>
  itemAbout(await engine.until(id, (run) => itemAbout(run, taskId) !== undefined), taskId)!;

const finish = (name: string, file: string) => ({
  say: say(acknowledgment(name), completion(name)),
  write: { "{TASK_ID}.md": "done\n" },
  waitForFile: file,
});

function read(name: string, labels: Record<string, string>): number {
  const family = parseMetrics(renderMetrics(metrics.metrics)).get(name.replace(/_count$/, ""));
  const fits = (found: Record<string, string>) => Object.entries(labels).every(([key, value]) => found[key] === value);
  return family!.samples.find((sample) => sample.name === name && fits(sample.labels))!.value;
}

describe("a task with a deadline", () => {
  it("is overdue once; then the user is asked, and the work still counts", async () => {
    const [first, second] = [lab.gate("first"), lab.gate("second")];
    const roles = [finish("DESIGNER", first.file), finish("DOCUMENTATION", second.file)];
    const id = await begin([role("DESIGNER", roles[0]!), role("DOCUMENTATION", roles[1]!)]);
    const item = await untilAsked(id, "designer");
    expect(item).toMatchObject({
      options: ["keep waiting", "cancel the task"],
      sessionId: null,
      evidence: { blocker_type: "deadline" },
    });
    expect(item.question).toMatch(/^Task designer of DESIGNER is overdue since 2/);
    expect(read("tutti_team_blocker_age_seconds", {})).toBeGreaterThanOrEqual(1);
    await engine.answer(item.id, { option: 0 });
    expect(eventsOf(id, "blocker:resolved", "designer")).toHaveLength(1);
    first.open();
    // The question about the second task is taken back when the task completes.
    const asked = await untilAsked(id, "documentation");
    second.open();
    const run = await engine.until(id, ({ outcome }) => outcome !== null);
    expect(run).toMatchObject({ outcome: "success", inbox: {} });
    for (const taskId of ["designer", "documentation"]) {
      expect(eventsOf(id, "task:overdue", taskId)).toHaveLength(1);
      expect(run.workers[taskId]!.session.turns).toBe(1);
    }
    const [overdue] = eventsOf(id, "task:overdue", "designer");
    const { startedAt } = run.workers["designer"]!;
    expect(overdue!.data).toMatchObject({ deadline: startedAt! + 30 });
    const [assignment] = run.teamMessages!;
    expect(assignment!.body).toMatchObject({ deadline: new Date(startedAt! + 30).toISOString() });
    const withdrawn = engine
      .events({ run: id })
      .filter(({ type, data }) => type === "inbox:answered" && data.withdrawn);
    expect(withdrawn.map(({ data }) => (data as { itemId: string }).itemId)).toEqual([asked.id]);
    expect(read("tutti_team_tasks_overdue_total", { role: "DESIGNER" })).toBe(1);
    expect(read("tutti_team_task_seconds_count", { role: "DESIGNER" })).toBe(1);
    expect(read("tutti_team_reports_total", { role: "DESIGNER" })).toBe(1);
  });

  it("reminds the role with its next turn, and the user may cancel it", async () => {
    const gate = lab.gate("silent");
    const id = await begin([
      role("DESIGNER", { say: "Hm.", waitForFile: gate.file } as never, { say: "Hm.", then: "hang" }),
    ]);
    await engine.until(id, () => eventsOf(id, "task:overdue", "designer").length > 0);
    gate.open();
    const item = await untilAsked(id, "designer");
    const run = await engine.until(id, ({ workers }) => workers["designer"]!.session.turns === 2);
    await engine.answer(item.id, { text: "cancel the task" });
    await engine.until(id, ({ workers }) => workers["designer"]!.status === "cancelled");
    const transcript = await engine.transcript(id, run.workers["designer"]!.sessionId);
    const prompts = transcript.flatMap((entry) => (entry.type === "prompt" ? [entry.text] : []));
    expect(prompts[0]).not.toContain("The deadline of your task passed");
    expect(prompts[1]).toContain("The deadline of your task passed at 2");
  });

  it("follows the deadline that its lead or parent gives as a point in time", async () => {
    const past = "2026-01-01T00:00:00Z";
    const no = verdict({ message_type: "TASK_REJECTION", reason: "No.", deadline: past });
    const rejected = await begin([leads(no, verdict())], "design-only");
    await engine.until(rejected, ({ outcome }) => outcome !== null);
    expect(eventsOf(rejected, "task:overdue", "designer")).toMatchObject([{ data: { deadline: Date.parse(past) } }]);
    expect(eventsOf(rejected, "blocker:raised", "designer")).toMatchObject([{ data: { blockerType: "deadline" } }]);
    expect(read("tutti_team_rejections_total", { role: "DESIGNER" })).toBe(1);
    expect((await engine.result(rejected)).metrics).toMatchObject({ rejectionRate: 1 / 3 });

    const task = (taskId: string, deadlineHint: string) => ({
      taskId,
      delegatedToMode: "code",
      objective: "x",
      deadlineHint,
    });
    const done = (taskId: string) => ({ taskId, result: "success", summary: "done" });
    const orchestrator = {
      match: { role: "orchestrator" },
      turns: [{ say: say(task("A-1", past), task("A-2", "soon")) }, { say: say(done("X")) }],
    };
    const sessions = Scenario.parse({
      sessions: [orchestrator, role("code", { say: say(done("{TASK_ID}")) })],
    }).sessions;
    const id = await lab.begin(engine, lab.scenario(sessions), {
      templateId: "modes",
      config: { autoSpawn: true },
    });
    await engine.until(id, () => eventsOf(id, "worker:completed", "A-2").length > 0);
    expect(eventsOf(id, "task:overdue", "A-1")).toHaveLength(1);
    expect(eventsOf(id, "task:overdue", "A-2")).toHaveLength(0);
  });
});
