// Whole runs of the template `modes` with scripted modes (document 002).
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { EngineLab, untilOver } from "../engine/engine-lab.ts";
import { role, say } from "./team-scenario.ts";
import type { Engine } from "../../src/engine/engine.ts";
import type { StoredEvent } from "../../src/schema/event.ts";
import { Scenario } from "../../src/session/drivers/script/scenario.ts";

let lab: EngineLab;
let engine: Engine;
beforeAll(() => {
  lab = new EngineLab();
  engine = lab.open();
});
afterAll(async () => {
  for (const each of lab.engines) await each.close();
  lab.tearDown();
});

type Members = Record<string, unknown>;
type Sessions = { match: object; turns: object[] }[];

const newTask = (taskId: string, mode: string, more: Members = {}): Members => ({
  taskId,
  delegatedToMode: mode,
  objective: `Do ${taskId}`,
  ...more,
});

const completion = (taskId: string, result: string, more: Members = {}): Members => ({
  taskId,
  result,
  summary: `${taskId}: ${result}`,
  outputArtifacts: [],
  issues_encountered: [],
  ...more,
});

const done = completion("FEATURE-1", "success");
const works = (mode: string) =>
  role(mode, { say: say(completion("{TASK_ID}", "success")), write: { "{TASK_ID}.md": "done\n" } });
const orchestrates = (...turns: Members[][]) => ({
  match: { role: "orchestrator" },
  turns: turns.map((messages) => ({ say: say(...messages) })),
});

const begin = (sessions: Sessions, more: Parameters<EngineLab["begin"]>[2] = {}) =>
  lab.begin(engine, lab.scenario(Scenario.parse({ sessions }).sessions), { templateId: "modes", ...more });

const eventsOf = (id: string, type: StoredEvent["type"]) =>
  engine.events({ run: id }).filter((event) => event.type === type);

const promptsOf = async (id: string, sessionId: string): Promise<string[]> =>
  (await engine.transcript(id, sessionId)).flatMap((entry) => (entry.type === "prompt" ? [entry.text] : []));

const lastMessage = (prompt: string): Members => JSON.parse(/```json\n([^`]*)\n```$/.exec(prompt)![1]!) as Members;

describe("the modes of document 002", () => {
  it("delegates the request, returns every result once and completes (D2-001, D2-020, D2-035)", async () => {
    const spec = newTask("SPEC-1", "spec-pseudocode", {
      context: "a calculator",
      acceptanceCriteria: ["It is short.", "It is complete."],
      expectedOutputs: [{ type: "document", path: "SPEC-1.md" }],
      priority: "high",
    });
    const id = await begin([
      orchestrates([spec], [newTask("CODE-1", "code")], [done]),
      works("spec-pseudocode"),
      works("code"),
    ]);
    const planned = await engine.until(id, ({ status }) => status === "confirming");
    expect(planned.tasks).toMatchObject([
      { id: "SPEC-1", role: "spec-pseudocode", description: "Do SPEC-1", priority: 2 },
    ]);
    const run = await untilOver(engine, id);
    expect(run).toMatchObject({ status: "completed", outcome: "success" });
    expect(run.tasks.map((task) => task.id)).toEqual(["SPEC-1", "CODE-1"]);
    // A later task sees the accepted work of an earlier one.
    expect(lab.git("ls-tree", "--name-only", run.workers["CODE-1"]!.session.start!)).toContain("SPEC-1.md");
    expect(lab.git("ls-tree", "--name-only", run.head!)).toContain("CODE-1.md");
    const [first, second] = await promptsOf(id, run.main!.sessionId);
    expect(lastMessage(first!)).toMatchObject({ delegatedToMode: "orchestrator", objective: "do it" });
    expect(lastMessage(second!)).toMatchObject({ taskId: "SPEC-1", result: "success" });
    const [prompt] = await promptsOf(id, run.workers["SPEC-1"]!.sessionId);
    expect(lastMessage(prompt!)).toMatchObject({ ...spec, parentTaskId: id });
    expect(run.teamMessages!.map(({ type, from, to, state }) => [type, from, to, state])).toEqual([
      ["new_task", "orchestrator", "spec-pseudocode", "acted"],
      ["attempt_completion", "spec-pseudocode", "orchestrator", "acted"],
      ["new_task", "orchestrator", "code", "acted"],
      ["attempt_completion", "code", "orchestrator", "acted"],
    ]);
    expect(eventsOf(id, "criterion:judged").map(({ data }) => data)).toMatchObject([
      { taskId: "SPEC-1", index: 0, criterion: "It is short.", met: true, by: "orchestrator" },
      { taskId: "SPEC-1", index: 1, criterion: "It is complete.", met: true },
    ]);
  });

  it("lets a mode delegate further, and gives it the work of its task (D2-003, D2-021)", async () => {
    const architect = {
      match: { role: "architect" },
      turns: [
        { tools: ["Write"], write: { "design.md": "design\n" }, say: say(newTask("CODE-1", "code")) },
        { tools: ["Read"], say: say(completion("ARCH-1", "success")) },
      ],
    };
    const stammers = role(
      "code",
      { say: `${say(completion("OTHER-1", "success"))}\n\`\`\`json\n{"message_type": "new_task", "taskId":\n\`\`\`` },
      { say: say(completion("{TASK_ID}", "success")), write: { "{TASK_ID}.md": "done\n" } },
    );
    const id = await begin([orchestrates([newTask("ARCH-1", "architect")], [done]), architect, stammers], {
      config: { maxWorkers: 1 },
    });
    const run = await untilOver(engine, id);
    expect(run.outcome).toBe("success");
    expect(run.tasks.map(({ id: task, delegation }) => [task, delegation!.parent])).toEqual([
      ["ARCH-1", null],
      ["CODE-1", "ARCH-1"],
    ]);
    const files = (commit: string) => lab.git("ls-tree", "--name-only", commit);
    expect(files(run.workers["CODE-1"]!.session.start!)).toContain("design.md");
    expect(files(run.workers["ARCH-1"]!.commit!)).toContain("CODE-1.md");
    const [, second] = await promptsOf(id, run.workers["ARCH-1"]!.sessionId);
    expect(lastMessage(second!)).toMatchObject({ taskId: "CODE-1", result: "success" });
    // A message that does not count is no part of the next prompt; the assignment is.
    const again = (await promptsOf(id, run.workers["CODE-1"]!.sessionId))[1]!;
    expect(again).toContain("A message is not valid JSON.");
    expect(again).toContain('The report is about "OTHER-1", but your task is CODE-1.');
    expect(lastMessage(again)).toMatchObject({ taskId: "CODE-1", parentTaskId: "ARCH-1" });
    expect(
      run.teamMessages!.findLast(({ taskId, type }) => taskId === "CODE-1" && type === "attempt_completion"),
    ).toMatchObject({
      from: "code",
      to: "architect",
      state: "acted",
      deliveries: 1,
    });
  });

  it("returns every ending to the parent once: a failure, a crash, no answer, a wrong delegation, a cancel", async () => {
    const plays = (mode: string, turn: object) => ({ match: { role: mode }, turns: [turn] });
    const modes = ["code", "tdd", "architect", "docs-writer", "security-review"];
    const id = await begin(
      [
        orchestrates(
          modes.map((mode) => newTask(mode, mode)),
          [done],
        ),
        plays("code", { say: say(completion("code", "failure", { summary: "no compiler" })) }),
        plays("tdd", { say: "hm", then: "exit:3" }),
        plays("architect", { say: "I think it is fine." }),
        plays("docs-writer", { say: say(newTask("X-1", "wizard")) }),
        plays("security-review", { say: "…", then: "hang" }),
      ],
      { config: { autoRetry: false, maxWorkers: 5 } },
    );
    await engine.until(id, ({ status }) => status === "confirming");
    await engine.order(id, "confirm");
    const { workers } = await engine.until(id, (run) => run.workers["security-review"]?.status === "running");
    await engine.cancelWorker(id, workers["security-review"]!.sessionId);
    const run = await untilOver(engine, id);
    expect(run).toMatchObject({ status: "error", outcome: "failed" });
    const returned = (await promptsOf(id, run.main!.sessionId)).slice(1).map(lastMessage);
    expect(returned.map(({ result }) => result)).toEqual(modes.map(() => "failure"));
    const reasons = Object.fromEntries(returned.map(({ taskId, summary }) => [taskId, summary]));
    expect(reasons).toEqual({
      code: "no compiler",
      tdd: expect.stringContaining("exit") as string,
      architect: expect.stringContaining("no usable answer") as string,
      "docs-writer": expect.stringContaining("wizard") as string,
      "security-review": "The task was cancelled.",
    });
    // The parent decides what follows, so the user is asked nothing.
    expect(eventsOf(id, "inbox:added").map(({ data }) => (data as { item: { kind: string } }).item.kind)).toEqual([
      "plan",
    ]);
  });

  it("asks the user if the parent cannot answer a question (V04, D2-037)", async () => {
    const issue = { type: "clarification_needed", description: "E-mail or SMS?", suggestedResolution: "Ask the owner" };
    const report = completion("{TASK_ID}", "clarification_needed", { issues_encountered: [issue] });
    const asks = { match: { role: "code", attempt: 1 }, turns: [{ say: say(report) }] };
    const passesOn = completion("FEATURE-1", "clarification_needed");
    const id = await begin([orchestrates([newTask("CODE-1", "code")], [passesOn], [done]), asks, works("code")]);
    await engine.until(id, ({ status }) => status === "confirming");
    await engine.order(id, "confirm");
    const waiting = await engine.until(id, ({ inbox }) => Object.values(inbox).some(({ kind }) => kind === "blocker"));
    const item = Object.values(waiting.inbox).find(({ kind }) => kind === "blocker")!;
    expect(item).toMatchObject({ taskId: "CODE-1", question: "E-mail or SMS?" });
    await engine.answer(item.id, { text: "E-mail" });
    const run = await untilOver(engine, id);
    expect(run.workers["CODE-1"]).toMatchObject({ attempt: 2, status: "completed" });
    const [prompt] = await promptsOf(id, run.workers["CODE-1"]!.sessionId);
    expect(lastMessage(prompt!)["context"]).toContain("E-mail or SMS?\nThe answer is: E-mail");
  });

  it("asks again for an expected output that is missing (D2-012, D2-038)", async () => {
    const forgets = role(
      "code",
      { say: say(completion("{TASK_ID}", "success")), write: { "a.md": "a\n" } },
      { say: say(completion("{TASK_ID}", "success")), write: { ".project-memory/hld/b.md": "b\n" } },
    );
    const task = newTask("CODE-1", "code", {
      expectedOutputs: [{ type: "document", path: ".project-memory/hld/b.md" }],
    });
    const id = await begin([orchestrates([task], [done]), forgets]);
    const run = await untilOver(engine, id);
    expect(run.outcome).toBe("success");
    const prompts = await promptsOf(id, run.workers["CODE-1"]!.sessionId);
    expect(prompts).toHaveLength(2);
    expect(prompts[1]).toContain("An expected output is missing: .project-memory/hld/b.md");
  });

  it.each([
    ["after a few turns", { recycleAfter: 1 }, {}],
    ["whose agent reports that its context is full", {}, { contextTokens: 700_000, contextWindow: 1_000_000 }],
    ["that is large for the window of the template", { contextWindow: 4000, recycleAt: 0.5 }, { contextTokens: 2000 }],
    ["that is large by estimate", { contextWindow: 1000, recycleAt: 0.3 }, {}],
  ])("replaces a long main session by one that gets a summary: one %s", async (_, team, usage) => {
    lab.userTemplate("short", { extends: "modes", team });
    const main = (attempt: number, ...messages: Members[]) => ({
      match: { role: "main", attempt },
      turns: [{ say: say(...messages), usage }],
    });
    const id = await begin(
      [main(1, newTask("CODE-1", "code")), main(2, newTask("CODE-2", "code")), main(3, done), works("code")],
      { templateId: "short" },
    );
    const run = await untilOver(engine, id);
    expect(run).toMatchObject({ outcome: "success", main: { attempt: 3 } });
    const [prompt] = await promptsOf(id, run.main!.sessionId);
    expect(prompt).toContain("CODE-1 (code, completed): Do CODE-1. Result: CODE-1: success");
  });

  it("keeps a main session whose context has room, and one that has shrunk again", async () => {
    lab.userTemplate("roomy", { extends: "modes", team: { recycleAt: 0.8 } });
    const turn = (contextTokens: number, ...messages: Members[]) => ({
      say: say(...messages),
      usage: { contextTokens, contextWindow: 1000 },
    });
    const turns = [
      turn(799, newTask("CODE-1", "code")),
      turn(500, newTask("CODE-2", "code")),
      turn(799, newTask("CODE-3", "code")),
      turn(10, done),
    ];
    const id = await begin([{ match: { role: "main" }, turns }, works("code")], { templateId: "roomy" });
    const run = await untilOver(engine, id);
    expect(run).toMatchObject({ outcome: "success", main: { attempt: 1, turns: 4, context: { tokens: 10 } } });
  });
});
