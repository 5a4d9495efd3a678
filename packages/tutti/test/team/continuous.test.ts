// Continuous mode of `team-lead`, with its circuit breaker.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { EngineLab, untilOver } from "../engine/engine-lab.ts";
import { mailboxScenario, TASKS } from "./mailbox-scenario.ts";
import type { Engine } from "../../src/engine/engine.ts";

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

function begin(team: object, roles: Parameters<typeof mailboxScenario>[0]): Promise<string> {
  lab.userTemplate("endless", { extends: "team-lead", team: { continuous: true, ...team } });
  return lab.begin(engine, lab.scenario(mailboxScenario(roles)), { templateId: "endless" });
}

describe("a continuous run", () => {
  it("plans again when all tasks have ended, until the lead plans none", async () => {
    const [first] = TASKS;
    const next = [
      { ...TASKS[1]!, id: "task-001", dependencies: [] },
      { ...TASKS[1]!, dependencies: ["task-001"] },
    ];
    const id = await begin({}, { cycles: [[first!], next, []] });
    const run = await untilOver(engine, id);
    expect(run.outcome).toBe("success");
    expect(run.tasks.map((task) => [task.id, task.dependencies])).toEqual([
      ["task-001", []],
      ["task-001_2", []],
      ["task-002", ["task-001_2"]],
    ]);
    expect((await engine.result(id)).census).toMatchObject({ planned: 3, completed: 3 });
    const prompts = (await engine.transcript(id, run.main!.sessionId)).flatMap((entry) =>
      entry.type === "prompt" && entry.text.includes("task_list") ? [entry.text] : [],
    );
    expect(prompts[1]).toMatch(/This is cycle 2[^]*- task-001: Write task-001 \(completed\)/);
    const status = JSON.parse(readFileSync(join(lab.data, "mailboxes", id, "status.json"), "utf8")) as object;
    expect(status).toMatchObject({ lastCycle: { number: 3, completed: 3, remaining: 0 } });
  });

  it("is paused by its circuit breaker after failures of the same kind in a row, and says why", async () => {
    const data = { task_id: "{TASK_ID}", status: "failed", error: "no compiler" };
    const developer = [{ tools: ["Read"], block: { phase: "completion", data } }];
    const id = await begin({ breaker: 2 }, { developer, cycles: [[TASKS[0]!]] });
    await engine.until(id, ({ status }) => status === "confirming");
    await engine.order(id, "confirm");
    const run = await engine.until(id, ({ status }) => status === "paused");
    expect(run.pausedFrom).toMatchObject({ reason: "breaker" });
    expect(run.tasks.map((task) => task.id)).toEqual(["task-001", "task-001_2"]);
    const opened = engine.events({ run: id }).filter(({ type }) => type === "breaker:open");
    expect(opened.map(({ data: each }) => each)).toMatchObject([
      { code: "reported_failure", count: 2, reason: expect.stringContaining("no compiler") as string },
    ]);
    // After a resume it needs as many failures again.
    await engine.order(id, "resume");
    const again = await engine.until(id, ({ tasks, status }) => status === "paused" && tasks.length === 4);
    expect(again.pausedFrom).toMatchObject({ reason: "breaker" });
    await engine.order(id, "cancel");
  });
});
