import { readFileSync, writeFileSync } from "node:fs";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { answered, created, failed, item, RUN, NotifiedLog } from "./notify-lab.ts";
import { openNotifier, type Notifier, type NotifierOptions } from "../../src/notify/notifier.ts";
import type { Delivery, NotificationTarget, OutgoingNotification } from "../../src/notify/target.ts";
import { NOTIFICATION_KINDS } from "../../src/schema/notification.ts";
import { realWorld, type World } from "../../src/world.ts";

const HOUR = 3_600_000;
let log: NotifiedLog;
let reports: string[];
const open: Notifier[] = [];
beforeEach(() => {
  log = new NotifiedLog();
  reports = [];
});
afterEach(async () => {
  for (const notifier of open.splice(0)) await notifier.close();
  log.remove();
});

/** A target that records its notifications; `answer` returns the outcome of a delivery. */
function listener(
  key: string | null,
  answer: (message: OutgoingNotification, signal: AbortSignal) => Delivery | Promise<Delivery> = ok,
) {
  const received: OutgoingNotification[] = [];
  let wake = Promise.withResolvers<void>();
  const target: NotificationTarget = {
    name: `target ${key}`,
    key,
    combines: false,
    async deliver(message, signal) {
      received.push(message);
      wake.resolve();
      wake = Promise.withResolvers();
      return answer(message, signal);
    },
  };
  const until = async (count: number): Promise<void> => {
    while (received.length < count) await wake.promise;
  };
  return { target, received, until, texts: () => received.map(({ text }) => text) };
}
const ok = (): Delivery => ({ ok: true, detail: "" });
const busy = (): Delivery => ({ ok: false, detail: "busy", again: { afterMs: 0 } });

const optionsFor = (targets: { target: NotificationTarget }[]): NotifierOptions => ({
  runs: log,
  targets: targets.map(({ target }) => target),
  on: NOTIFICATION_KINDS,
  file: log.file,
  world: realWorld,
  mask: (text) => text.replaceAll("secret", "******"),
  report: (problem) => reports.push(problem),
});

function start(targets: { target: NotificationTarget }[], more: Partial<NotifierOptions> = {}): Notifier {
  const notifier = openNotifier({ ...optionsFor(targets), ...more });
  notifier.begin(null);
  open.push(notifier);
  return notifier;
}

/** An object with the methods of `runs`, so that a test can replace one of them. */
const methodsOf = (runs: NotifierOptions["runs"]): NotifierOptions["runs"] => ({
  events: (options) => runs.events(options),
  get: (id) => runs.get(id),
  lastSeq: () => runs.lastSeq(),
  subscribe: (listener) => runs.subscribe(listener),
});

const stopped = (notifier: Notifier): Promise<void> => open.splice(open.indexOf(notifier), 1)[0]!.close();

describe("A target", () => {
  it("receives each notification once and in order, and after a restart only the undelivered ones", async () => {
    const first = listener("a");
    const notifier = start([first]);
    await log.add([created(), item("1"), item("2")]);
    await first.until(2);
    await stopped(notifier);
    expect(first.texts()).toEqual(["what about 1?", "what about 2?"]);

    await log.add([item("3")]);
    const second = listener("a");
    start([second]);
    await log.add([item("4")]);
    await second.until(2);
    expect(second.texts()).toEqual(["what about 3?", "what about 4?"]);
    expect(second.received.map(({ id }) => id)).toEqual([`${RUN}:4`, `${RUN}:5`]);
  });

  it("receives a notification again, under the same id, only if the process died during its delivery", async () => {
    await log.add([created()]);
    const first = listener("a", ({ text }) => (text.includes("0") ? ok() : new Promise(() => {})));
    // This notifier is never closed, as if its process had been killed.
    openNotifier(optionsFor([first])).begin(null);
    await log.add([item("0"), item("1"), item("2")]);
    await first.until(2);

    const second = listener("a");
    start([second]);
    await second.until(2);
    expect(second.received[0]!.id).toBe(first.received[1]!.id);
    expect(second.texts()).toEqual(["what about 1?", "what about 2?"]);
  });

  it("that is new receives nothing from before it was opened", async () => {
    await log.add([created(), item("1")]);
    const [a, b] = [listener("a"), listener("b")];
    await stopped(start([a]));
    await log.add([item("2")]);
    start([a, b]);
    await log.add([item("3")]);
    await Promise.all([a.until(2), b.until(1)]);
    expect(a.texts()).toEqual(["what about 2?", "what about 3?"]);
    expect(b.texts()).toEqual(["what about 3?"]);
  });

  it("receives after a restart nothing that is older than an hour or was answered meanwhile", async () => {
    await log.add([created()]);
    await stopped(start([listener("a")]));
    await log.add([item("old")], { agoMs: HOUR + 1000 });
    await log.add([item("answered"), item("open"), answered("answered")]);
    const a = listener("a");
    start([a]);
    await log.add([item("last")]);
    await a.until(2);
    expect(a.texts()).toEqual(["what about open?", "what about last?"]);
  });

  it("does not block the event loop while its position is stored, which happens before its next delivery", async () => {
    const seen: { hadTurn: boolean; told: unknown }[] = [];
    let hadTurn = false;
    await stopped(start([listener("a")]));
    const a = listener("a", () => {
      seen.push({ hadTurn, told: (JSON.parse(readFileSync(log.file, "utf8")) as { told: unknown }).told });
      setImmediate(() => (hadTurn = true));
      return ok();
    });
    start([a]);
    await log.add([created(), item("1"), item("2")]);
    await a.until(2);
    expect(seen).toEqual([
      { hadTurn: false, told: { a: 0 } },
      { hadTurn: true, told: { a: 2 } },
    ]);
  });

  it("receives a recent notification even if the machine sleeps or its clock changes before the delivery", async () => {
    let asleep = 0;
    const world: World = {
      ...realWorld,
      now: () => Date.now() + asleep,
      sleep: async (ms, signal, inBackground) => {
        if (!inBackground) return realWorld.sleep(ms, signal);
        asleep = 8 * HOUR;
      },
    };
    const a = listener("a");
    start([a], { world });
    await log.add([created(), item("1")], { agoMs: 0 });
    await a.until(1);
    expect(a.texts()).toEqual(["what about 1?"]);
  });

  it("receives a pause only while the run is still paused", async () => {
    const a = listener("a");
    start([a]);
    const about = { previousStatus: "running", previousPhase: null, reason: "provider", detail: "log in" } as const;
    const paused = { type: "orchestrator:paused" as const, data: { id: RUN, ...about } };
    const resumed = {
      type: "orchestrator:resumed" as const,
      data: { id: RUN, status: "running", phase: null } as const,
    };
    await log.add([created(), paused, resumed, item("1")]);
    await a.until(1);
    await log.add([paused]);
    await a.until(2);
    expect(a.texts()).toEqual(["what about 1?", "log in"]);
  });

  it("misses nothing if the previous notifier was closed before it began", async () => {
    await log.add([created()]);
    await stopped(start([listener("a")]));
    await log.add([item("1")]);
    const a = listener("a");
    await openNotifier(optionsFor([a])).close();
    start([a]);
    await a.until(1);
    expect(a.texts()).toEqual(["what about 1?"]);
  });

  it("receives nothing that is answered at once, such as a plan that a flag confirms", async () => {
    const a = listener("a");
    start([a]);
    await log.add([created(), item("1", { kind: "plan" })], { agoMs: 0 });
    await log.add([answered("1"), item("2")], { agoMs: 0 });
    await a.until(1);
    expect(a.texts()).toEqual(["what about 2?"]);
  });

  it("receives only the configured kinds, with secrets masked", async () => {
    const a = listener("a");
    start([a], { on: ["failed"] });
    await log.add([created(), item("1"), item("2", { kind: "failure", question: "the secret is out" }), failed]);
    await a.until(2);
    expect(a.received.map(({ kind, text }) => [kind, text])).toEqual([
      ["failed", "the ****** is out"],
      ["failed", "no answer — 0 planned"],
    ]);
  });

  it("receives no part of a secret where a text is truncated", async () => {
    const a = listener("a");
    start([a]);
    await log.add([created(), item("1", { question: `${"x".repeat(594)} secret and more` })]);
    await a.until(1);
    expect(a.texts()).toEqual([`${"x".repeat(594)} ****…`]);
  });

  it("causes a read of a run's state after a restart only for events that make a notification", async () => {
    const quiet = Array.from({ length: 50 }, () => answered("none"));
    await log.add([created()]);
    const notifier = start([listener("a")]);
    await stopped(notifier);
    await log.add([...quiet, item("1"), ...quiet]);
    const reads: string[] = [];
    const get = (id: string) => (reads.push(id), log.get(id));
    const runs = { ...methodsOf(log), get };
    const a = listener("a");
    start([a], { runs });
    expect(reads).toEqual([RUN]);
    await a.until(1);
  });

  it("receives nothing twice if an event arrives after one with a higher seq", async () => {
    const listeners: Parameters<NotifierOptions["runs"]["subscribe"]>[0][] = [];
    const subscribe: NotifierOptions["runs"]["subscribe"] = (listener) => {
      listeners.push(listener);
      return () => {};
    };
    const a = listener("a");
    const notifier = start([a], { runs: { ...methodsOf(log), subscribe } });
    const stored = await log.add([created(), answered("none"), item("1")]);
    for (const event of stored.toReversed()) for (const each of listeners) each(event, log.get(RUN));
    await a.until(1);
    await stopped(notifier);
    const again = listener("a");
    start([again]);
    await log.add([item("2")]);
    await again.until(1);
    expect(again.texts()).toEqual(["what about 2?"]);
  });

  it("that throws loses that notification with a report, and still receives the next one", async () => {
    const a = listener("a", ({ text }) => {
      if (text.includes("1")) throw new Error("a quote is not closed");
      return ok();
    });
    start([a]);
    await log.add([created(), item("1"), item("2")]);
    await a.until(2);
    await stopped(open[0]!);
    expect(reports).toEqual([`target a: ${RUN}:2 could not be delivered: a quote is not closed`]);
    expect(JSON.parse(readFileSync(log.file, "utf8"))).toEqual({ told: { a: 3 } });
  });

  it("receives nothing that a run copied from another run", async () => {
    const a = listener("a");
    start([a]);
    const copy = "orch_000000000002";
    const forked = { type: "orchestrator:forked" as const, data: { id: copy, from: RUN, at: 2 } };
    await log.add([created(copy), item("1"), forked, item("2")], { run: copy });
    await a.until(1);
    expect(a.texts()).toEqual(["what about 2?"]);
  });

  it("that fails is retried for a while and delays no other target; giving up is reported once", async () => {
    const waits: number[] = [];
    const hurried: World = {
      ...realWorld,
      sleep: (ms, signal, inBackground) => {
        if (!inBackground) return realWorld.sleep(ms, signal);
        waits.push(ms);
        return Promise.resolve();
      },
    };
    const [a, b] = [listener("a", busy), listener("b")];
    start([a, b], { world: hurried });
    await log.add([created(), item("1"), item("2")]);
    await Promise.all([a.until(12), b.until(2)]);
    expect(waits).toEqual([1000, 5000, 30_000, 120_000, 300_000, 1000, 5000, 30_000, 120_000, 300_000]);
    expect(b.texts()).toEqual(["what about 1?", "what about 2?"]);
    await stopped(open[0]!);
    expect(reports).toEqual([`target a: ${RUN}:2 could not be delivered: busy`]);
    const { told } = JSON.parse(readFileSync(log.file, "utf8")) as { told: Record<string, number> };
    expect(told).toEqual({ a: 3, b: 3 });
  });

  it("that fails until the notifier closes receives the notification from the next notifier", async () => {
    const a = listener("a", busy);
    const notifier = start([a]);
    await log.add([created(), item("1")]);
    await a.until(1);
    await stopped(notifier);
    expect(reports).toEqual([]);
    const again = listener("a");
    start([again]);
    await again.until(1);
    expect(again.texts()).toEqual(["what about 1?"]);
  });

  it("receives the newest notifications when the notifier closes", async () => {
    const a = listener("a");
    const notifier = start([a]);
    await log.add([created(), item("1")], { agoMs: 0 });
    await stopped(notifier);
    expect(a.texts()).toEqual(["what about 1?"]);
  });

  it("for people receives many notifications of one run as one", async () => {
    const a = listener("a");
    a.target.combines = true;
    start([a]);
    const many = Array.from({ length: 20 }, (_, i) => item(`${i}`, { kind: "failure", taskId: `t${i}` }));
    await log.add([created(), ...many, item("x")]);
    await a.until(2);
    expect(a.received.map(({ id, title }) => [id, title])).toEqual([
      [`${RUN}:21`, "20 failures in one run"],
      [`${RUN}:22`, "one asks"],
    ]);
    expect(a.received[0]!.text).toBe(
      "t0 failed: what about 0?; t1 failed: what about 1?; t2 failed: what about 2?; and 17 more",
    );
  });

  it("continues from now if the file of positions cannot be read", async () => {
    await log.add([created(), item("1")]);
    writeFileSync(log.file, "{ not json");
    const a = listener("a");
    start([a]);
    await log.add([item("2")]);
    await a.until(1);
    expect(a.texts()).toEqual(["what about 2?"]);
    expect(reports).toEqual([`${log.file} cannot be read. Notifications from before this start are not sent.`]);
  });
});
