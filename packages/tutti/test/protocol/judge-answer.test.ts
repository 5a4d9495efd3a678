import { describe, expect, it } from "vitest";
import { ProgressReporter } from "../../src/engine/sessions/progress-reporter.ts";
import { TurnRecord } from "../../src/engine/sessions/turn-record.ts";
import { judgeAnswer, readProgress } from "../../src/protocol/response/judge-answer.ts";
import { DEFAULT_DELIMITERS, scanBlocks } from "../../src/protocol/response/response-scanner.ts";
import type { RunEvent } from "../../src/schema/event.ts";
import type { AnswerPhase } from "../../src/schema/status.ts";
import { realWorld, type World } from "../../src/world.ts";
import { Story } from "../run/make-run.ts";
import { block, delimited, END, START } from "./blocks.ts";

function judge(text: string, phase: AnswerPhase, more: { prompt?: string; taskId?: string; strict?: boolean } = {}) {
  const { prompt = "", taskId, strict = false } = more;
  const input = { blocks: scanBlocks(text), prompt, delimiters: DEFAULT_DELIMITERS, phase, strict };
  return judgeAnswer(taskId === undefined ? input : { ...input, taskId });
}

describe("the answer of a turn", () => {
  it("is present if the turn has a block of the phase (D0-001)", () => {
    const data = { summary: "s", recommended_splits: 2 };
    expect(judge(`Done. ${block("analysis", data)}`, "analysis")).toEqual({
      answer: { phase: "analysis", data },
      problems: [],
      warnings: [],
      ignored: [],
    });
  });

  it("is the last valid block of the phase", () => {
    const text =
      block("analysis", { summary: "first", recommended_splits: 1 }) +
      block("analysis", { summary: "second", recommended_splits: 2 }) +
      block("analysis", { summary: "no splits" }) +
      delimited("nothing");
    const { answer, problems } = judge(text, "analysis");
    expect(answer).toEqual({ phase: "analysis", data: { summary: "second", recommended_splits: 2 } });
    expect(problems).toEqual([]);
  });

  it("is never a block of the prompt, whatever the order of its members", () => {
    const prompt = `Answer like this:\n${block("completion", { task_id: "t1", status: "success", summary: "…" })}`;
    const echo = block("completion", { summary: "…", status: "success", task_id: "t1" });
    expect(judge(echo, "completion", { prompt, taskId: "t1" })).toMatchObject({
      answer: null,
      ignored: [{ phase: "completion", reason: "It repeats a block of the prompt." }],
    });
    const real = block("completion", { task_id: "t1", status: "success", summary: "real" });
    expect(judge(echo + real + echo, "completion", { prompt, taskId: "t1" }).answer).toMatchObject({
      data: { summary: "real" },
    });
  });

  it("is found despite an unreadable sample in the prompt", () => {
    const sample = delimited('{"phase": "<phase_name>", "data": { ... }}');
    const { answer, ignored, problems } = judge(sample, "analysis", { prompt: sample });
    expect(answer).toBeNull();
    expect(ignored).toHaveLength(1);
    expect(problems).toEqual(['None of the blocks counts: a valid "analysis" block is missing.']);
  });

  it("is never a block about another task", () => {
    const text =
      block("completion", { task_id: "t1", status: "partial" }) +
      block("completion", { task_id: "t2", status: "failed" });
    expect(judge(text, "completion", { taskId: "t1" })).toMatchObject({
      answer: { data: { task_id: "t1", status: "partial" } },
      ignored: [{ phase: "completion", reason: "It names task t2, not t1." }],
    });
  });

  it("is never a block of another phase", () => {
    const text = block("task_list", { tasks: [] }) + block("dance", {});
    expect(judge(text, "analysis")).toMatchObject({
      answer: null,
      ignored: [
        { phase: "task_list", reason: 'Its phase is "task_list", but the expected phase is "analysis".' },
        { phase: "dance", reason: 'Its phase is "dance", but the expected phase is "analysis".' },
      ],
    });
  });

  it("is never a truncated block", () => {
    const text = delimited('{"phase": "completion", "data": {"task_id": "t1", "status": "success"');
    expect(judge(text, "completion", { taskId: "t1" }).answer).toBeNull();
  });

  it("is valid without optional members, and with null for them (D0-079)", () => {
    const data = { task_id: "t1", status: "success", error: null, warnings: null, mood: "kept" };
    expect(judge(block("completion", data), "completion", { taskId: "t1" }).answer).toEqual({
      phase: "completion",
      data: { task_id: "t1", status: "success", mood: "kept" },
    });
  });

  it("leaves the scanned blocks unchanged, because they are part of the record", () => {
    const text =
      block("aggregation", { status: "mostly", error: null, conflicts: [{ type: "a", files: null }] }) +
      block("progress", { task_id: "t1", status: "working", output_preview: null });
    const blocks = scanBlocks(text);
    const before = structuredClone(blocks);
    const { answer } = judgeAnswer({ blocks, prompt: "", delimiters: DEFAULT_DELIMITERS, phase: "aggregation" });
    expect(answer?.data).toEqual({ status: "needs_input", conflicts: [{ type: "a" }] });
    expect(readProgress(blocks[1]!, "t1")).toEqual({ task_id: "t1", status: "in_progress" });
    expect(blocks).toEqual(before);
  });

  it("excludes progress reports, and records those about another task", () => {
    const text =
      block("progress", { task_id: "t1", status: "working" }) + block("progress", { task_id: "t2", status: "working" });
    expect(judge(text, "completion", { taskId: "t1" }).ignored).toEqual([
      { phase: "progress", reason: "It names task t2, not t1." },
    ]);
  });

  it("rejects an unknown aggregation status while the agent can be asked again", () => {
    const judged = judge(block("aggregation", { status: "mostly" }), "aggregation", { strict: true });
    expect(judged.answer).toBeNull();
    expect(judged.problems.at(-1)).toMatch(/^"data.status" must be .*success.*; it is "mostly"\.$/);
  });

  it("turns an unknown aggregation status into `needs_input` otherwise", () => {
    expect(judge(block("aggregation", { status: "mostly" }), "aggregation")).toMatchObject({
      answer: { data: { status: "needs_input" } },
      warnings: ["Unknown aggregation status, read as needs_input: mostly"],
    });
  });
});

describe("the problems of a turn without an answer", () => {
  it("report that there is no block", () => {
    expect(judge("no block", "analysis").problems).toEqual([
      `The answer contains no block between ${START} and ${END}.`,
    ]);
  });

  it("name every missing or wrong member, for the next prompt (D0-080)", () => {
    expect(judge(block("analysis", { recommended_splits: "3" }), "analysis").problems).toEqual([
      'The answer contains no usable block: a valid "analysis" block is missing.',
      '"data.summary" is missing; it must be a string.',
      '"data.recommended_splits" must be a number; it is "3".',
    ]);
    expect(judge(block("task_list", { tasks: [{ id: "a", title: "A" }] }), "task_list").problems).toContain(
      '"data.tasks[0].description" is missing; it must be a string.',
    );
    const { problems } = judge(block("completion", { task_id: "t", status: "done" }), "completion", { taskId: "t" });
    expect(problems).toContain('"data.status" must be one of "success", "partial", "failed", "timeout"; it is "done".');
  });

  it("explain why a block cannot be read", () => {
    expect(judge(`${START} {"phase": "analysis"`, "analysis").problems).toContain(
      "A block could not be used: Missing end delimiter: the block breaks off.",
    );
  });
});

describe("the record of a turn", () => {
  const completion = (summary: string) => block("completion", { task_id: "t1", status: "success", summary });

  it("keeps the newest blocks, up to a number and a sum of their lengths", () => {
    const record = new TurnRecord(DEFAULT_DELIMITERS);
    for (let i = 0; i < 1000; i++) record.text(completion(`no. ${i}`), true);
    expect(record.blocks).toHaveLength(100);
    expect(JSON.stringify(record.blocks.at(-1))).toContain("no. 999");
    for (let i = 0; i < 30; i++) record.text(completion("x".repeat(500_000)), true);
    expect(record.blocks.length).toBeLessThan(10);
  });

  it("rejects a block that is too large, and does not repair a damaged one that is large", () => {
    const record = new TurnRecord(DEFAULT_DELIMITERS);
    const [huge] = record.text(completion("x".repeat(2_000_000)), true);
    expect(huge).toMatchObject({ ok: false, code: "too_large" });
    const many = (count: number) => completion("x").replace(/"data":\s*\{/, `"data":{"list":[${"1,".repeat(count)}1],`);
    expect(record.text(many(40_000), true)).toMatchObject([{ ok: true }]);
    expect(record.text(many(60_000), true)).toMatchObject([{ ok: false, code: "too_large" }]);
    const damaged = (summary: string) => completion(summary).replace('"data":', "data:");
    expect(record.text(damaged("x"), true)).toMatchObject([{ ok: true }]);
    expect(record.text(completion("x".repeat(500_000)), true)).toMatchObject([{ ok: true }]);
    expect(record.text(damaged("x".repeat(500_000)), true)).toMatchObject([{ ok: false, code: "too_large" }]);
  });
});

describe("progress and heartbeat blocks", () => {
  it("are read as they arrive, only for their own task (D0-003)", () => {
    const [mine] = scanBlocks(block("progress", { task_id: "t1", status: "working", progress_percent: 60 }));
    expect(readProgress(mine!, "t1")).toEqual({ task_id: "t1", status: "in_progress", progress_percent: 60 });
    expect(readProgress(mine!, "t2")).toBeNull();
    expect(readProgress(mine!, undefined)).toBeNull();
  });

  it("become `worker:progress` events with percentage, status, action and preview (D0-003, D0-036..D0-040, D0-043)", async () => {
    const story = new Story().execute([{ id: "t1" }]);
    story.spawn("t1");
    for (const status of ["blocked", "retrying", "in_progress"]) {
      const record = new TurnRecord(DEFAULT_DELIMITERS);
      const data = { progress_percent: 60, current_action: "reads", output_preview: "# Title" };
      const [report] = record.text(block("progress", { task_id: "t1", status, ...data }), true);
      const told: RunEvent[] = [];
      const look = () => ({
        run: story.run,
        worker: story.run.workers["t1"]!,
        record,
        progress: readProgress(report!, "t1"),
      });
      const teller = new ProgressReporter({ world: realWorld, look, record: async (event) => void told.push(event) });
      await teller.changed(true);
      expect(told).toMatchObject([
        {
          type: "worker:progress",
          data: { taskId: "t1", progress: 60, status, currentAction: "reads", outputPreview: "# Title" },
        },
      ]);
    }
  });

  it("that come too fast wait, and keep no process alive that has nothing else to do", async () => {
    const story = new Story().execute([{ id: "t1" }]);
    story.spawn("t1");
    const record = new TurnRecord(DEFAULT_DELIMITERS);
    const told: RunEvent[] = [];
    let wakes: () => void = () => {};
    // The time stands still, and the test ends the wait.
    const world: World = {
      ...realWorld,
      mono: () => 0,
      sleep: (ms, _signal, inBackground) =>
        new Promise((resolve) => {
          expect({ ms, inBackground }).toEqual({ ms: 1000, inBackground: true });
          wakes = resolve;
        }),
    };
    const look = () => ({ run: story.run, worker: story.run.workers["t1"]!, record, progress: null });
    const teller = new ProgressReporter({ world, look, record: async (event) => void told.push(event) });
    await teller.changed(false);
    await teller.changed(false);
    expect(told).toHaveLength(1);
    world.mono = () => 1000;
    wakes();
    await expect.poll(() => told).toHaveLength(2);
  });

  it("are ignored if they are not valid", () => {
    const [wrong] = scanBlocks(block("progress", { task_id: "t1", status: "working", progress_percent: 600 }));
    expect(readProgress(wrong!, "t1")).toBeNull();
    const [beat] = scanBlocks(block("heartbeat", { timestamp: "2026-01-01T00:00:00Z", alive: true }));
    expect(readProgress(beat!, "t1")).toBeNull();
  });
});
