// Which events a person is told of, and that nothing an agent wrote does anything in what they are told.
import { describe, expect, it } from "vitest";
import { answered, created, failed, item, RUN } from "./notify-lab.ts";
import { notificationOf } from "../../src/run/notification-of.ts";
import { INBOX_KINDS } from "../../src/schema/inbox.ts";
import type { RunEvent, StoredEvent } from "../../src/schema/event.ts";
import { Story } from "../run/make-run.ts";

const placed = (event: RunEvent): StoredEvent => ({ ...event, seq: 9, runSeq: 7, run: RUN, timestamp: 1000 });
const of = (event: RunEvent, run = new Story().run) => notificationOf(placed(event), run);
const paused = (reason: "person" | "budget" | "provider" | "hook"): RunEvent => ({
  type: "orchestrator:paused",
  data: { id: RUN, previousStatus: "running", previousPhase: "workerExecution", reason, detail: "log in again" },
});
const completed = (outcome: "success" | "degraded"): RunEvent => ({
  type: "orchestrator:completed",
  data: { id: RUN, status: "completed", aggregation: null, stats: {} as never, outcome },
});

describe("what a person is told", () => {
  it("is everything that comes into the inbox, with its question, run, task and kind", () => {
    for (const kind of INBOX_KINDS) {
      expect(of(item("item_1", { kind, risk: "high" }))).toMatchObject({
        id: `${RUN}:7`,
        kind: kind === "failure" ? "failed" : "needs_person",
        run: RUN,
        taskId: "one",
        text: "what about item_1?",
        request: "do it",
        item: { id: "item_1", kind, risk: "high" },
      });
    }
    expect(of(item("item_1"))!.title).toBe("one asks");
    expect(of(item("item_1", { taskId: null }))!.title).toBe("The main session asks");
  });

  it("is how a run ended, with its census and cost", () => {
    const { run } = new Story();
    const usage = { inputTokens: 100, outputTokens: 20, usd: 1.5 };
    const told = of(completed("degraded"), { ...run, usage })!;
    expect(told).toMatchObject({ kind: "ended", outcome: { verdict: "degraded", census: { planned: 0 }, usage } });
    expect(told.text).toBe("0 planned; $1.50; 120 tokens");
    expect(of(failed)).toMatchObject({ kind: "failed", title: "The run failed", outcome: { verdict: "failed" } });
    expect(of(failed)!.text).toMatch(/^no answer — 0 planned/);
    expect(of({ type: "orchestrator:cancelled", data: { id: RUN, phase: null } })).toMatchObject({ kind: "ended" });
    expect(notificationOf(placed(completed("success")), null)).toMatchObject({
      kind: "ended",
      outcome: null,
      text: "",
    });
  });

  it("is a pause that goes on until somebody resumes the run, unless an item or the person says the same", () => {
    for (const reason of ["provider", "hook"] as const) {
      expect(of(paused(reason))).toMatchObject({ kind: "needs_person", text: "log in again" });
    }
    for (const reason of ["person", "budget"] as const) expect(of(paused(reason))).toBeNull();
  });

  it("is nothing else", () => {
    for (const event of [created(), answered("item_1")]) expect(of(event)).toBeNull();
    expect(of({ ...failed, data: { ...failed.data, fatal: false } } as RunEvent)).toBeNull();
  });

  it("holds no terminal code, no control character, no turned line and no end beyond a length", () => {
    const hostile = "\u001b]0;owned\u0007\u001b[31mred\u001b[0m a\u0000b\u202Ec\u2028d\r\ne\ud800";
    const told = of(item("item_1", { question: hostile, taskId: hostile }))!;
    expect(told.text).toBe("red a b c d e\ufffd");
    expect(told.taskId).toBe(told.text);
    expect(told.title).toBe(`${told.text} asks`);
    const long = of(item("item_1", { question: "👍".repeat(5000), taskId: "x".repeat(5000) }))!;
    expect(long.text.length).toBeLessThanOrEqual(600);
    expect(long.text).toMatch(/^(👍)+…$/u);
    expect(long.title.length).toBeLessThanOrEqual(100);
  });
});
