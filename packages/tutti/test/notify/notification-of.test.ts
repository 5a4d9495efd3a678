import { describe, expect, it } from "vitest";
import { answered, created, failed, item, RUN } from "./notify-lab.ts";
import { notificationOf } from "../../src/run/inbox/notification-of.ts";
import { INBOX_KINDS } from "../../src/schema/inbox.ts";
import type { RunEvent, StoredEvent } from "../../src/schema/event.ts";
import { Story } from "../run/make-run.ts";

const storedAs = (event: RunEvent): StoredEvent => ({ ...event, seq: 9, runSeq: 7, run: RUN, timestamp: 1000 });
const of = (event: RunEvent, run = new Story().run) => notificationOf(storedAs(event), run);
const paused = (reason: "person" | "budget" | "provider" | "hook"): RunEvent => ({
  type: "orchestrator:paused",
  data: { id: RUN, previousStatus: "running", previousPhase: "workerExecution", reason, detail: "log in again" },
});
const completed = (outcome: "success" | "degraded"): RunEvent => ({
  type: "orchestrator:completed",
  data: { id: RUN, status: "completed", aggregation: null, stats: {} as never, outcome },
});

describe("`notificationOf`", () => {
  it("returns every inbox item, with its question, run, task and kind", () => {
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

  it("returns the end of a run, with its census and cost", () => {
    const { run } = new Story();
    const usage = { inputTokens: 100, outputTokens: 20, usd: 1.5 };
    const notification = of(completed("degraded"), { ...run, usage })!;
    expect(notification).toMatchObject({
      kind: "ended",
      outcome: { verdict: "degraded", census: { planned: 0 }, usage },
    });
    expect(notification.text).toBe("0 planned; $1.50; 120 tokens");
    expect(of(failed)).toMatchObject({ kind: "failed", title: "The run failed", outcome: { verdict: "failed" } });
    expect(of(failed)!.text).toMatch(/^no answer — 0 planned/);
    expect(of({ type: "orchestrator:cancelled", data: { id: RUN, phase: null } })).toMatchObject({ kind: "ended" });
    expect(notificationOf(storedAs(completed("success")), null)).toMatchObject({
      kind: "ended",
      outcome: null,
      text: "",
    });
  });

  it("returns a pause by a provider or a hook, but not by the user or by a budget, which has an item of its own", () => {
    for (const reason of ["provider", "hook"] as const) {
      expect(of(paused(reason))).toMatchObject({ kind: "needs_person", text: "log in again" });
    }
    for (const reason of ["person", "budget"] as const) expect(of(paused(reason))).toBeNull();
  });

  it("returns null for other events", () => {
    for (const event of [created(), answered("item_1")]) expect(of(event)).toBeNull();
    expect(of({ ...failed, data: { ...failed.data, fatal: false } } as RunEvent)).toBeNull();
  });

  it("removes terminal codes, control characters and bidi controls, and truncates long texts", () => {
    const hostile = "\u001b]0;owned\u0007\u001b[31mred\u001b[0m a\u0000b\u202Ec\u2028d\r\ne\ud800";
    const notification = of(item("item_1", { question: hostile, taskId: hostile }))!;
    expect(notification.text).toBe("red a b c d e\ufffd");
    expect(notification.taskId).toBe(notification.text);
    expect(notification.title).toBe(`${notification.text} asks`);
    const long = of(item("item_1", { question: "👍".repeat(5000), taskId: "x".repeat(5000) }))!;
    expect(long.text.length).toBeLessThanOrEqual(600);
    expect(long.text).toMatch(/^(👍)+…$/u);
    expect(long.title.length).toBeLessThanOrEqual(100);
  });
});
