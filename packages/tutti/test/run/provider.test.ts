// Refusals of a provider: its sessions share one wait, lose no work and use up no attempt. If waiting cannot help, the task
// fails at once with advice for the user.
import { describe, expect, it } from "vitest";
import { makeTemplate, Story } from "./make-run.ts";
import { minutesOverAt, used } from "../../src/run/rules/budget.ts";
import { providerOf } from "../../src/run/provider/provider-name.ts";
import { deadlines, phaseOverAt, schedule } from "../../src/run/schedule.ts";
import { waitsForUser } from "../../src/run/inbox/waits-for-user.ts";
import type { Ending, FailureCause } from "../../src/schema/ending.ts";

const HOUR = 3_600_000;
const failing = (cause: FailureCause, more: Partial<Ending> = {}): { ending: Ending } => ({
  ending: { kind: "error", detail: `the provider said ${cause}`, cause, ...more },
});
const PROVIDER = "command:x";

function working(config: object = {}, tasks = ["a", "b", "c"]): Story {
  const story = new Story(makeTemplate({ config })).execute(tasks.map((id) => ({ id })));
  story.spawn("a");
  story.spawn("b");
  return story;
}
const worker = (story: Story, id: string) => story.run.workers[id]!;
const untilOf = (story: Story): number => story.run.refusals[PROVIDER]!.until;
const waitUntil = (story: Story, at: number) => story.do({ type: "tick" }, at - story.now);
const wanted = (story: Story) => schedule(story.run, { freeSlots: 9 }, story.now);

describe("The provider of an agent", () => {
  it("has one name for all agents of one program", () => {
    expect(providerOf("claude")).toBe("claude");
    expect(providerOf("acp:gemini --acp")).toBe("acp:gemini");
    expect(providerOf("acp:/usr/local/bin/gemini --acp --yolo")).toBe("acp:gemini");
    expect(providerOf("command:")).toBe("command:");
  });

  it("is shared by user-defined agent names, as `orchestrator:created` maps them", () => {
    const template = makeTemplate({ phases: { workerExecution: { agent: "fast" } } });
    const story = new Story(template, { providers: { fast: PROVIDER } }).execute([{ id: "a" }, { id: "b" }]);
    story.spawn("a");
    expect([story.run.main?.agent, worker(story, "a").session.agent]).toEqual(["command:x", "fast"]);
    story.answerWorker("a", null, failing("overloaded"));
    expect(Object.keys(story.run.refusals)).toEqual([PROVIDER]);
    expect(wanted(story).spawn).toEqual([]);
    waitUntil(story, untilOf(story));
    expect(worker(story, "a").session.turn, "one is asked").not.toBeNull();
    expect(wanted(story).spawn).toEqual([]);
    story.succeed("a");
    expect(story.run.refusals).toEqual({});
    expect(wanted(story).spawn).toEqual(["b"]);
  });
});

describe("Time in which all sessions wait for a provider", () => {
  const PHASE = 20_000;
  const budget = { minutes: 1 };
  const limited = () => {
    const template = makeTemplate({ config: { budget }, phases: { workerExecution: { timeout: PHASE } } });
    const story = new Story(template).execute([{ id: "a" }, { id: "b" }]);
    story.spawn("a");
    story.spawn("b");
    return story;
  };
  const minutes = (story: Story) => used(story.run, story.now).minutes * 60_000;

  it("counts against neither the phase nor the budget", () => {
    const story = limited();
    for (const id of ["a", "b"]) story.answerWorker(id, null, failing("overloaded", { retryAfterMs: 300_000 }));
    const [before, over] = [minutes(story), story.run.phaseSince! + PHASE];
    expect([phaseOverAt(story.run), minutesOverAt(story.run)]).toEqual([null, null]);
    expect(wanted(story).lookAt).toBe(untilOf(story));
    const since = story.now;
    waitUntil(story, untilOf(story));
    expect(worker(story, "a").session.turn).not.toBeNull();
    expect(story.run).toMatchObject({ status: "running", inbox: {} });
    expect(minutes(story)).toBe(before);
    expect(phaseOverAt(story.run)).toBe(over + story.now - since);
    waitUntil(story, phaseOverAt(story.run)!);
    expect(worker(story, "a").status, "from there on it counts again").toBe("timeout");
  });

  it("counts while one session works", () => {
    const story = limited();
    story.answerWorker("a", null, failing("overloaded", { retryAfterMs: 300_000 }));
    const over = story.run.phaseSince! + PHASE;
    expect(phaseOverAt(story.run)).toBe(over);
    waitUntil(story, over);
    expect(worker(story, "b").status).toBe("timeout");
  });

  it("is subtracted once if the run is paused meanwhile or the clock jumps", () => {
    const story = limited();
    for (const id of ["a", "b"]) story.answerWorker(id, null, failing("overloaded", { retryAfterMs: 300_000 }));
    const [before, over] = [minutes(story), story.run.phaseSince! + PHASE];
    const since = story.now;
    story.do({ type: "pause" }, 50_000);
    story.do({ type: "resume" }, 70_000);
    story.now += 5_000;
    story.do({ type: "clockJumped", byMs: 5_000 });
    waitUntil(story, untilOf(story));
    expect(minutes(story)).toBe(before);
    expect(phaseOverAt(story.run)).toBe(over + story.now - since);
  });
});

describe("An overloaded provider", () => {
  it("keeps the session and its work, and the turn is repeated after the wait within the same attempt", () => {
    const story = working();
    story.answerWorker("a", null, failing("overloaded"));
    expect(worker(story, "a")).toMatchObject({ status: "running", attempt: 1, retryCount: 0, losses: 0 });
    expect(worker(story, "a").owed).toMatchObject({ try: 1, interrupted: true });
    expect(story.run.refusals[PROVIDER]).toMatchObject({ cause: "overloaded", count: 1 });
    expect(untilOf(story) - story.now).toBeGreaterThanOrEqual(15_000);
    waitUntil(story, untilOf(story) - 1);
    expect(worker(story, "a").session.turn).toBeNull();
    story.succeed("b");
    expect(story.run.refusals).toEqual({});
    expect(worker(story, "a").session.turn).toMatchObject({ number: 2, try: 1 });
    story.succeed("a");
    expect(worker(story, "a")).toMatchObject({ status: "completed", attempt: 1 });
  });

  it("is probed by one session after the wait, and the others continue after its answer", () => {
    const story = working();
    for (const id of ["a", "b"]) story.answerWorker(id, null, failing("rate_limit"));
    expect(story.run.refusals[PROVIDER]!.count, "they were refused together").toBe(1);
    expect(wanted(story).spawn).toEqual([]);
    waitUntil(story, untilOf(story));
    const open = ["a", "b"].filter((id) => worker(story, id).session.turn !== null);
    expect(open).toHaveLength(1);
    expect(wanted(story).spawn).toEqual([]);
    story.succeed(open[0]!);
    expect(["a", "b"].every((id) => id === open[0] || worker(story, id).session.turn !== null)).toBe(true);
    expect(wanted(story).spawn).toEqual(["c"]);
  });

  it("delays new sessions until the wait ends, then one session probes it", () => {
    const story = working({}, ["a", "b", "c", "d"]);
    story.answerWorker("a", null, failing("rate_limit", { retryAfterMs: 17_000 }));
    story.do({ type: "cancelWorker", sessionId: worker(story, "a").sessionId });
    story.do({ type: "cancelWorker", sessionId: worker(story, "b").sessionId });
    expect(wanted(story)).toMatchObject({ spawn: [], lookAt: untilOf(story) });
    waitUntil(story, untilOf(story));
    expect(wanted(story).spawn).toEqual(["c"]);
  });

  it("gets at least the wait that it requests, and growing waits if it requests none", () => {
    const named = working();
    named.answerWorker("a", null, failing("rate_limit", { retryAfterMs: 17_000 }));
    expect(untilOf(named) - named.now).toBeGreaterThanOrEqual(17_000);
    expect(untilOf(named) - named.now).toBeLessThanOrEqual(17_000 * 1.2 + 1);
    const story = working();
    const waits = [0, 1, 2, 3].map(() => {
      story.answerWorker("a", null, failing("overloaded"));
      const wait = untilOf(story) - story.now;
      // The other turn would show that the provider answers again.
      if (worker(story, "b").session.turn) story.do({ type: "cancelWorker", sessionId: worker(story, "b").sessionId });
      waitUntil(story, untilOf(story));
      return wait;
    });
    for (const [i, wait] of waits.entries()) expect(wait).toBeGreaterThanOrEqual(15_000 * 2 ** i);
  });

  it("that refuses many turns together counts once and does not shorten the wait", () => {
    const ids = Array.from({ length: 12 }, (_, i) => `t${i}`);
    const story = new Story(makeTemplate({ config: { maxWorkers: 12 } })).execute(ids.map((id) => ({ id })));
    for (const id of ids) story.spawn(id);
    story.answerWorker("t0", null, failing("rate_limit", { retryAfterMs: HOUR }));
    const promised = untilOf(story);
    for (const id of ids.slice(1)) story.answerWorker(id, null, failing("overloaded"));
    expect(story.run.refusals[PROVIDER]).toMatchObject({ count: 1, until: promised });
    expect(ids.map((id) => worker(story, id).status)).toEqual(ids.map(() => "running"));
  });

  it("that requests very short waits is not asked repeatedly at once", () => {
    const story = working();
    story.answerWorker("a", null, failing("rate_limit", { retryAfterMs: 0 }));
    expect(untilOf(story) - story.now).toBeGreaterThanOrEqual(15_000);
  });

  it("is probed although an older turn is still open", () => {
    const story = working();
    story.answerWorker("a", null, failing("overloaded"));
    waitUntil(story, untilOf(story));
    expect(worker(story, "b").session.turn).toMatchObject({ number: 1 });
    expect(worker(story, "a").session.turn).toMatchObject({ number: 2 });
    expect(wanted(story).spawn, "one at a time").toEqual([]);
  });

  it("is probed by another session if the probing one waits for the user", () => {
    const story = working();
    for (const id of ["a", "b"]) story.answerWorker(id, null, failing("overloaded"));
    waitUntil(story, untilOf(story));
    const [asking, other] = worker(story, "a").session.turn ? ["a", "b"] : ["b", "a"];
    expect(worker(story, other).session.turn).toBeNull();
    const { sessionId } = worker(story, asking);
    story.do({ type: "asked", sessionId, askId: "q1", itemId: "item_q", question: "Which one?" });
    expect(worker(story, other).session.turn).toMatchObject({ number: 2 });
  });

  it("is still being probed after a clock jump", () => {
    const story = working();
    for (const id of ["a", "b"]) story.answerWorker(id, null, failing("overloaded"));
    waitUntil(story, untilOf(story));
    const until = untilOf(story);
    story.do({ type: "clockJumped", byMs: HOUR }, HOUR);
    expect(untilOf(story)).toBe(until);
    story.do({ type: "tick" }, HOUR);
    expect(["a", "b"].filter((id) => worker(story, id).session.turn !== null)).toHaveLength(1);
    const waiting = working();
    waiting.answerWorker("a", null, failing("overloaded"));
    const promised = untilOf(waiting);
    waiting.do({ type: "clockJumped", byMs: HOUR }, HOUR);
    expect(untilOf(waiting)).toBe(promised + HOUR);
  });

  it("rejects starts that were scheduled before the refusal", () => {
    const story = working({}, ["a", "b", "c", "d"]);
    expect(wanted(story).spawn).toContain("c");
    story.answerWorker("a", null, failing("overloaded"));
    story.do({ type: "spawn", taskId: "c" });
    expect(story.run.workers["c"]).toBeUndefined();
    const main = new Story();
    main.do({ type: "start", base: "base", warnings: [] });
    main.do({ type: "spawnMain" });
    main.do({ type: "ready", sessionId: main.run.main!.sessionId, start: "base" });
    main.answerMain(null, failing("overloaded"));
    const { attempt, sessionId } = main.run.main!;
    main.do({ type: "lost", sessionId, reason: "gone", counted: true });
    main.do({ type: "spawnMain" });
    expect(main.run.main!.attempt).toBe(attempt);
    waitUntil(main, untilOf(main));
    main.do({ type: "spawnMain" });
    expect(main.run.main!.attempt).toBe(attempt + 1);
  });

  it("does not keep a main session from being replaced by one of another provider", () => {
    const phases = { aggregation: { enabled: false }, verification: { enabled: true, agent: "command:y" } };
    const story = new Story(makeTemplate({ phases })).execute([{ id: "a" }, { id: "b" }]);
    for (const id of ["a", "b"]) story.spawn(id);
    story.succeed("b");
    story.merge("b");
    story.answerWorker("a", null, failing("overloaded"));
    story.do({ type: "cancelWorker", sessionId: worker(story, "a").sessionId });
    expect(story.now).toBeLessThan(untilOf(story));
    expect(story.run).toMatchObject({ status: "verifying", main: { state: "over" } });
    expect(wanted(story).spawnMain).toBe(true);
  });

  it("causes no idle timeout of a waiting session", () => {
    const story = working({ idleTimeout: 10_000 });
    story.answerWorker("a", null, failing("overloaded"));
    waitUntil(story, untilOf(story));
    const { sessionId } = worker(story, "a");
    story.do({ type: "idle", sessionId, forMs: 20_000 });
    expect(worker(story, "a").status).toBe("running");
    story.do({ type: "idle", sessionId, forMs: 30_000 }, 10_000);
    expect(worker(story, "a")).toMatchObject({ status: "timeout", errorCode: "worker_idle" });
  });

  it("that no session needs any more does not hide that the run waits for the user", () => {
    const story = working({}, ["a", "b"]);
    story.answerWorker("a", null, failing("overloaded"));
    story.do({ type: "cancelWorker", sessionId: worker(story, "a").sessionId });
    waitUntil(story, untilOf(story));
    const { sessionId } = worker(story, "b");
    story.do({ type: "asked", sessionId, askId: "q1", itemId: "item_q", question: "Which one?" });
    expect(waitsForUser(story.run, story.now)).toBe(true);
  });

  it("does not shorten the time of a task", () => {
    const story = working({ workerTimeout: 20_000 });
    story.answerWorker("a", null, failing("overloaded", { retryAfterMs: HOUR }));
    expect(deadlines(story.run).map(({ sessionId }) => sessionId)).not.toContain(worker(story, "a").sessionId);
    story.do({ type: "cancelWorker", sessionId: worker(story, "b").sessionId });
    waitUntil(story, untilOf(story));
    const [deadline] = deadlines(story.run);
    expect(deadline!.at - story.now).toBeGreaterThan(19_000);
  });

  it("does not shorten the time of a session that waits for it without a refusal of its own", () => {
    const story = working();
    story.answerWorker("a", null, failing("overloaded", { retryAfterMs: 300_000 }));
    story.do({ type: "pause" });
    story.answerWorker("b", null, { ending: { kind: "interrupted", detail: "it was interrupted" } });
    story.do({ type: "resume" }, 1000);
    const { sessionId, session } = worker(story, "b");
    expect([session.turn, session.pausedAt]).toEqual([null, null]);
    expect(deadlines(story.run).map((each) => each.sessionId)).not.toContain(sessionId);
    const since = story.now;
    waitUntil(story, untilOf(story));
    story.succeed("a");
    expect(worker(story, "b").session.turn, "it is asked").not.toBeNull();
    const waited = story.now - since;
    expect(waited).toBeGreaterThan(300_000);
    expect(worker(story, "b").session.waitedMs).toBeGreaterThanOrEqual(waited);
  });

  it("that never answers again fails the task in the end, and until then the run does not wait for the user", () => {
    const story = working({}, ["a", "b"]);
    story.do({ type: "cancelWorker", sessionId: worker(story, "b").sessionId });
    for (let i = 0; i < 8; i++) {
      story.answerWorker("a", null, failing("overloaded"));
      expect(worker(story, "a").status).toBe("running");
      expect(waitsForUser(story.run, story.now)).toBe(false);
      expect(waitsForUser(story.run, untilOf(story)), "before the next tick").toBe(false);
      waitUntil(story, untilOf(story));
    }
    story.answerWorker("a", null, failing("overloaded"));
    expect(worker(story, "a")).toMatchObject({ status: "failed", errorCode: "overloaded" });
  });

  it("delays the main session in the same way", () => {
    const story = new Story();
    story.do({ type: "start", base: "base", warnings: [] });
    story.do({ type: "spawnMain" });
    story.do({ type: "ready", sessionId: story.run.main!.sessionId, start: "base" });
    story.answerMain(null, failing("api"));
    expect(story.run).toMatchObject({ status: "analyzing", mainLosses: 0, owed: { try: 1, interrupted: true } });
    waitUntil(story, untilOf(story) - 1);
    expect(story.run.main!.turn).toBeNull();
    waitUntil(story, untilOf(story));
    expect(story.run.main!.turn).toMatchObject({ number: 2 });
  });
});

describe("An agent that retries by itself", () => {
  it("keeps other sessions of its provider from starting while its own turn continues", () => {
    const story = working();
    const { sessionId } = worker(story, "a");
    const trouble = { cause: "overloaded" as const, detail: "529", retryAfterMs: 20_000 };
    story.do({ type: "troubled", sessionId, ...trouble });
    expect(worker(story, "a").session.turn).not.toBeNull();
    expect(untilOf(story)).toBe(story.now + 20_000);
    expect(wanted(story).spawn).toEqual([]);
    story.do({ type: "troubled", sessionId, ...trouble, retryAfterMs: 1000 });
    expect(story.run.refusals[PROVIDER]!.count).toBe(0);
    story.succeed("a");
    expect(story.run.refusals).toEqual({});
    expect(wanted(story).spawn).toEqual(["c"]);
  });

  it("still counts refusals if its turns end with them", () => {
    const story = working({}, ["a", "b"]);
    story.do({ type: "cancelWorker", sessionId: worker(story, "b").sessionId });
    const { sessionId } = worker(story, "a");
    const waits = [1, 2, 3].map((count) => {
      story.do({ type: "troubled", sessionId, cause: "overloaded", detail: "529", retryAfterMs: 1000 });
      story.answerWorker("a", null, failing("overloaded"));
      expect(story.run.refusals[PROVIDER]!.count).toBe(count);
      const wait = untilOf(story) - story.now;
      waitUntil(story, untilOf(story));
      return wait;
    });
    expect(waits[2]!).toBeGreaterThan(2 * waits[0]!);
  });

  it("causes no wait for a transient API error", () => {
    const story = working();
    const trouble = { cause: "api" as const, detail: "500", retryAfterMs: null };
    story.do({ type: "troubled", sessionId: worker(story, "a").sessionId, ...trouble });
    expect(story.run.refusals).toEqual({});
  });
});

describe("A rejected login or an account without balance", () => {
  it.each(["auth", "billing"] as const)("fails the task at once with advice, and nothing else starts (%s)", (cause) => {
    const story = working({ autoRetry: true });
    story.answerWorker("a", null, failing(cause));
    expect(worker(story, "a")).toMatchObject({ status: "failed", errorCode: cause, retryCount: 0 });
    expect(worker(story, "a").error).toMatch(/^command:x: the .*\(the provider said/);
    expect(story.run).toMatchObject({ status: "paused", pausedFrom: { reason: "provider" } });
    expect(wanted(story).spawn).toEqual([]);
  });

  /** A run that is paused after a refused login of task a, and the item of that failure. */
  function refused(config: object = {}) {
    const story = working(config);
    story.answerWorker("a", null, failing("auth"));
    story.answerWorker("b", null, failing("auth"));
    return { story, itemId: Object.keys(story.run.inbox)[0]! };
  }
  const RESUMED = { status: "running", pausedFrom: null, inbox: {} };

  it.each([
    ["a resume", () => ({ type: "resume" }) as const],
    ["its retry", () => ({ type: "retry", taskId: "a" }) as const],
    ["the answer to retry it", (itemId: string) => ({ type: "answer", itemId, answer: { option: 0 } }) as const],
    [
      "the words of that answer",
      (itemId: string) => ({ type: "answer", itemId, answer: { text: "Try it again" } }) as const,
    ],
  ])("is over for the user with %s, which retries the task and resumes the run", (_, order) => {
    const { story, itemId } = refused();
    story.do(order(itemId));
    expect(story.run).toMatchObject(RESUMED);
    expect(worker(story, "b").session.turn).toMatchObject({ number: 2, try: 1 });
    expect(wanted(story).spawn).toEqual(["a", "c"]);
  });

  it("uses up no retry and needs no permission of the template", () => {
    const { story } = refused({ retryOnError: false, maxRetries: 0 });
    for (const order of [{ type: "resume" }, { type: "retry", taskId: "a" }] as const) {
      story.do(order);
      story.spawn("a");
      story.answerWorker("a", null, failing("auth"));
      expect(worker(story, "a")).toMatchObject({ status: "failed", retryCount: 0 });
    }
  });

  it("keeps a task failed that the user left as it is, unless the user retries it", () => {
    for (const order of [{ type: "resume" }, { type: "retry", taskId: "a" }] as const) {
      const { story, itemId } = refused();
      story.do({ type: "answer", itemId, answer: { text: "leave it" } });
      expect(story.run.status).toBe("paused");
      story.do(order);
      expect(story.run).toMatchObject(RESUMED);
      expect(wanted(story).spawn).toEqual(order.type === "resume" ? ["c"] : ["a", "c"]);
    }
  });

  it("is the only pause that a retry ends", () => {
    const story = working();
    story.answerWorker("a", { phase: "completion", data: { task_id: "a", status: "failed", error: "no" } });
    story.do({ type: "pause" });
    story.do({ type: "retry", taskId: "a" });
    expect(story.run).toMatchObject({ status: "paused", pausedFrom: { reason: "person" } });
    expect(worker(story, "a")).toMatchObject({ status: "pending", retryCount: 1 });
  });

  it.each([
    ["a resume", () => ({ type: "resume" }) as const],
    ["a retry without a task", () => ({ type: "retry", taskId: null }) as const],
    ["the answer to its item", (itemId: string) => ({ type: "answer", itemId, answer: { text: "go on" } }) as const],
  ])("pauses a run whose main session encounters it, and %s repeats the turn", (_, order) => {
    const story = new Story();
    story.do({ type: "start", base: "base", warnings: [] });
    story.do({ type: "spawnMain" });
    story.do({ type: "ready", sessionId: story.run.main!.sessionId, start: "base" });
    story.answerMain(null, failing("auth"));
    expect(story.run).toMatchObject({ status: "paused", pausedFrom: { reason: "provider" }, errors: [] });
    const [item] = Object.values(story.run.inbox);
    expect(item).toMatchObject({ kind: "limit", options: ["go on", "cancel the run"] });
    expect(item!.question).toContain("tutti doctor");
    story.do(order(item!.id));
    expect(story.run).toMatchObject({ status: "analyzing", pausedFrom: null, inbox: {} });
    expect(story.run.main!.turn).toMatchObject({ number: 2, try: 1, phase: "analysis" });
  });
});

describe("A usage limit", () => {
  it("pauses the run until the user answers, and its item has the reset time", () => {
    const story = working();
    const resetAt = story.now + 5 * HOUR;
    story.answerWorker("a", null, failing("usage_limit", { resetAt }));
    expect(story.run).toMatchObject({ status: "paused", pausedFrom: { reason: "usage_limit" } });
    const [item] = Object.values(story.run.inbox);
    expect(item).toMatchObject({ kind: "limit", evidence: { provider: PROVIDER, resetAt, autoResume: false } });
    expect(item!.question).toContain(new Date(resetAt).toISOString());
    expect(item!.expiresAt).toBeUndefined();
    story.answerWorker("b", null, { ending: { kind: "interrupted", detail: "" } });
    expect(waitsForUser(story.run, story.now)).toBe(true);
    waitUntil(story, resetAt + HOUR);
    expect(story.run.status).toBe("paused");
    story.do({ type: "answer", itemId: item!.id, answer: { approve: true } });
    expect(story.run).toMatchObject({ status: "running", autoResumes: 0, inbox: {} });
    expect(worker(story, "a").session.turn).toMatchObject({ number: 2, try: 1 });
  });

  it("resumes the run automatically if the template allows it, up to its maximum", () => {
    const story = working({ autoResume: true, maxAutoResumes: 2 }, ["a", "b"]);
    story.do({ type: "cancelWorker", sessionId: worker(story, "b").sessionId });
    for (let i = 1; i <= 2; i++) {
      const resetAt = story.now + HOUR;
      story.answerWorker("a", null, failing("usage_limit", { resetAt }));
      expect(waitsForUser(story.run, story.now)).toBe(false);
      expect(wanted(story).lookAt).toBe(resetAt);
      waitUntil(story, resetAt);
      expect(story.run).toMatchObject({ status: "running", autoResumes: i });
    }
    story.answerWorker("a", null, failing("usage_limit", { resetAt: story.now + HOUR }));
    waitUntil(story, story.now + 9 * HOUR);
    expect(story.run.status).toBe("paused");
  });

  it("that ended long ago is due at once", () => {
    const story = working({ autoResume: true });
    const resetAt = story.now + HOUR;
    story.answerWorker("a", null, failing("usage_limit", { resetAt }));
    const late = resetAt + HOUR;
    expect(schedule(story.run, { freeSlots: 9, since: late }, late).lookAt).toBe(resetAt);
  });

  it("that was reset while it was reported resumes at once, and a stale reset time counts as unknown", () => {
    const story = working({ autoResume: true }, ["a", "b"]);
    story.do({ type: "cancelWorker", sessionId: worker(story, "b").sessionId });
    story.answerWorker("a", null, failing("usage_limit", { resetAt: story.now - 50 }));
    expect(story.run).toMatchObject({ status: "running", autoResumes: 1 });
    story.answerWorker("a", null, failing("usage_limit", { resetAt: story.now - HOUR }));
    expect(Object.values(story.run.inbox)[0]!.expiresAt).toBe(story.now + HOUR);
  });

  it("of several workers at once creates one item", () => {
    const story = working();
    for (const id of ["a", "b"]) story.answerWorker(id, null, failing("usage_limit"));
    expect(Object.values(story.run.inbox).map(({ kind }) => kind)).toEqual(["limit"]);
    story.do({ type: "resume" });
    expect(story.run).toMatchObject({ status: "running", inbox: {} });
  });

  it("ends for the user with the retry of a task that waits for it, which keeps its session", () => {
    const story = working();
    story.answerWorker("a", null, failing("usage_limit"));
    story.do({ type: "retry", taskId: "a" });
    expect(story.run).toMatchObject({ status: "running", inbox: {} });
    expect(worker(story, "a")).toMatchObject({ attempt: 1, retryCount: 0, session: { turn: { number: 2 } } });
  });

  it("keeps the run paused when the user answers another question", () => {
    const template = makeTemplate({ phases: { aggregation: { conflictResolution: "ask" } } });
    const plan = [{ id: "a" }, { id: "b" }, { id: "c" }, { id: "d", dependencies: ["a", "b"] }];
    const story = new Story(template).execute(plan);
    for (const id of ["a", "b", "c"]) story.spawn(id);
    for (const id of ["a", "b"]) story.succeed(id);
    story.merge("a");
    const conflict = { type: "file_conflict", files: ["f.md"], tasks: ["a", "b"], resolution: null, refs: [] };
    story.do({ type: "conflicted", taskId: "b", commit: "commit-of-b", head: "after-b", conflict });
    story.answerWorker("c", null, failing("usage_limit"));
    expect(Object.values(story.run.inbox).map(({ kind }) => kind)).toEqual(["decision", "limit"]);
    story.do({ type: "decide", decisions: [{ index: 0, text: "camel" }] });
    expect(story.run).toMatchObject({ status: "paused", pausedFrom: { reason: "usage_limit" } });
    const [limit] = Object.values(story.run.inbox);
    story.do({ type: "answer", itemId: limit!.id, answer: { option: 0 } });
    expect(story.run.status).toBe("running");
  });

  it("is not extended by a sleep of the machine", () => {
    const story = working({ autoResume: true });
    const resetAt = story.now + HOUR;
    story.answerWorker("a", null, failing("usage_limit", { resetAt }));
    story.do({ type: "clockJumped", byMs: 30 * 60_000 });
    waitUntil(story, resetAt);
    expect(story.run.status).toBe("running");
  });
});

describe("A worker whose conversation is too long", () => {
  it("gets another session, and its task fails after the third time", () => {
    const story = working({}, ["a", "b"]);
    for (let attempt = 1; attempt < 3; attempt++) {
      story.answerWorker("a", null, failing("context"));
      expect(worker(story, "a")).toMatchObject({ status: "pending", losses: attempt });
      story.spawn("a");
    }
    story.answerWorker("a", null, failing("context"));
    expect(worker(story, "a")).toMatchObject({ status: "failed", errorCode: "context" });
  });
});

describe("A main session whose conversation is too long", () => {
  it("is replaced within the same try, and the run waits for the user after the third time", () => {
    const story = new Story();
    story.do({ type: "start", base: "base", warnings: [] });
    const begin = () => {
      story.do({ type: "spawnMain" });
      story.do({ type: "ready", sessionId: story.run.main!.sessionId, start: "base" });
    };
    begin();
    for (let i = 0; i < 2; i++) story.answerMain(null, { problems: ["no block"] });
    expect(story.run.owed).toMatchObject({ try: 3 });
    for (let losses = 1; losses < 3; losses++) {
      story.answerMain(null, failing("context"));
      expect(story.run).toMatchObject({ status: "analyzing", mainLosses: losses, owed: { try: 3 } });
      begin();
    }
    story.answerMain(null, failing("context"));
    expect(story.run).toMatchObject({ status: "paused", errors: [{ code: "context" }] });
  });
});

describe("A turn that ends with a question", () => {
  const question = "Shall I use tabs or spaces?";

  it("neither completes nor fails the task, which alone waits for the user", () => {
    const story = working();
    story.answerWorker("a", null, { question });
    const [item] = Object.values(story.run.inbox);
    expect(item).toMatchObject({ kind: "question", taskId: "a", question });
    expect(worker(story, "a")).toMatchObject({
      status: "running",
      session: { turn: null },
      owed: { waitsFor: item!.id },
    });
    expect(deadlines(story.run).map(({ sessionId }) => sessionId)).toEqual([worker(story, "b").sessionId]);
    story.do({ type: "tick" }, HOUR);
    expect(worker(story, "a").session.turn).toBeNull();
    story.do({ type: "answer", itemId: item!.id, answer: { text: "spaces" } });
    expect(worker(story, "a").session).toMatchObject({ turn: { number: 2, try: 1 }, waitedMs: expect.any(Number) });
    expect(worker(story, "a").session.waitedMs).toBeGreaterThanOrEqual(HOUR);
    expect(worker(story, "a").owed).toMatchObject({ waitsFor: null, note: expect.stringContaining("spaces") });
    expect(worker(story, "a").owed!.note).toContain(question);
  });

  it("of the main session creates an item too", () => {
    const story = new Story();
    story.do({ type: "start", base: "base", warnings: [] });
    story.do({ type: "spawnMain" });
    story.do({ type: "ready", sessionId: story.run.main!.sessionId, start: "base" });
    story.answerMain(null, { question });
    expect(waitsForUser(story.run, story.now)).toBe(true);
    const [item] = Object.values(story.run.inbox);
    story.do({ type: "answer", itemId: item!.id, answer: { text: "tabs" } });
    expect(story.run.main!.turn).toMatchObject({ number: 2 });
    expect(story.run.owed!.note).toContain("tabs");
  });

  it("gets the default answer after the template's answerTimeout", () => {
    const story = working({ answerTimeout: 60_000 });
    story.answerWorker("a", null, { question });
    waitUntil(story, story.now + 60_000);
    expect(worker(story, "a").owed!.note).toContain("The user did not answer in time");
    expect(worker(story, "a").session.turn).not.toBeNull();
  });
});

describe("A tool permission", () => {
  function wishing(config: object = {}): Story {
    const story = working(config);
    const { sessionId } = worker(story, "a");
    const permission = { tool: "Bash", subject: "npm test" };
    const request = {
      type: "asked" as const,
      sessionId,
      askId: "p1",
      itemId: "item_p",
      question: "May it run: npm test",
    };
    story.do({ ...request, options: ["allow", "refuse"], permission });
    return story;
  }
  const answerOf = (story: Story) => worker(story, "a").session.asks["p1"];

  it("is requested from the user with run and task, and only that task waits", () => {
    const story = wishing();
    const item = story.run.inbox["item_p"]!;
    expect(item).toMatchObject({ kind: "permission", taskId: "a", risk: "medium", options: ["allow", "refuse"] });
    expect(item.evidence).toEqual({ tool: "Bash", subject: "npm test" });
    expect(deadlines(story.run).map(({ sessionId }) => sessionId)).toEqual([worker(story, "b").sessionId]);
  });

  it.each([
    [{ approve: true }, "allow"],
    [{ approve: false }, "refuse"],
    [{ approve: false, text: "use npx" }, "use npx"],
    [{ option: 0 }, "allow"],
    [{ option: 1 }, "refuse"],
    [{ text: "not now" }, "not now"],
  ])("is answered with %o", (answer, words) => {
    const story = wishing();
    story.do({ type: "answer", itemId: "item_p", answer });
    expect(answerOf(story)).toBe(words);
  });

  it("is refused if the user does not answer", () => {
    const unset = wishing();
    waitUntil(unset, unset.now + 1_800_000);
    expect(answerOf(unset)).toBe("refuse");
    const set = wishing({ answerTimeout: 5000 });
    waitUntil(set, set.now + 5000);
    expect(answerOf(set)).toBe("refuse");
  });

  it.each([
    [["Allow always", "Allow once", "Reject"], "Allow always", "Reject"],
    [["Deny", "Allow"], "Allow", "Deny"],
    [["Yes", "Maybe"], "Yes", "refuse"],
    [["no, never"], "allow", "no, never"],
  ])("is refused and allowed by the text of the options %o, not by their position", (options, yes, no) => {
    const answers = [{ approve: true }, { approve: false }, null].map((answer) => {
      const story = working();
      const { sessionId } = worker(story, "a");
      const permission = { tool: "Bash", subject: "ls" };
      story.do({ type: "asked", sessionId, askId: "p1", itemId: "item_p", question: "May it?", options, permission });
      if (answer) story.do({ type: "answer", itemId: "item_p", answer });
      else waitUntil(story, story.now + 1_800_000);
      return answerOf(story);
    });
    expect(answers).toEqual([yes, no, no]);
  });

  it("is requested again by the next session, even if the previous one was allowed", () => {
    const story = wishing();
    story.do({ type: "answer", itemId: "item_p", answer: { approve: true } });
    story.do({ type: "lost", sessionId: worker(story, "a").sessionId, reason: "gone", counted: true });
    story.spawn("a");
    const { sessionId } = worker(story, "a");
    const permission = { tool: "Bash", subject: "npm test" };
    const request = {
      type: "asked" as const,
      sessionId,
      askId: "p1",
      itemId: "item_2",
      question: "May it run: npm test",
    };
    story.do({ ...request, options: ["allow", "refuse"], permission });
    expect(answerOf(story)).toBeNull();
    expect(story.run.inbox["item_2"]).toBeDefined();
  });

  it("is withdrawn if the agent withdraws its request", () => {
    const story = wishing();
    story.do({ type: "unasked", sessionId: worker(story, "a").sessionId, askId: "p1" });
    expect(story.run.inbox).toEqual({});
    expect(answerOf(story)).toBeNull();
  });
});

describe("A failure that would repeat", () => {
  it.each(["refusal", "invalid_request", "denied", "agent_budget"] as const)(
    "gets no automatic retry (%s)",
    (cause) => {
      const story = working({ autoRetry: true });
      story.answerWorker("a", null, failing(cause));
      expect(worker(story, "a")).toMatchObject({ status: "failed", errorCode: cause, retryCount: 0 });
    },
  );
});
