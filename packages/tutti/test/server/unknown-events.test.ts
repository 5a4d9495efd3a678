// A log that contains event types which this version does not know, for example because a newer server wrote some.
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { ServerLab } from "./server-lab.ts";
import { tutti } from "../cli/in-process.ts";
import { goodWorker, mainSession } from "../lab/scenarios.ts";
import { parseMetrics } from "../telemetry/parse-metrics.ts";
import { eventLine } from "../../src/cli/terminal/describe.ts";
import { callsIn } from "../../src/engine/hooks.ts";
import { replay } from "../../src/engine/runs/replay.ts";
import { describeEvent } from "../../src/run/describe-event.ts";
import { applySubSession, noSubSessions } from "../../src/run/fold/sub-sessions.ts";
import { notificationOf } from "../../src/run/inbox/notification-of.ts";
import type { ServerEvent, StoredEvent } from "../../src/schema/event.ts";
import { encodeTimeline } from "../../src/server/routes/encode-timeline.ts";
import { openSqliteStore } from "../../src/store/sqlite.ts";
import type { NewEvent } from "../../src/store/store.ts";
import { RunTrace } from "../../src/telemetry/run-trace.ts";

let lab: ServerLab;
beforeEach(async () => {
  lab = await ServerLab.open();
});
afterEach(() => lab.tearDown());

const unknown = (type: string) => ({ type, data: { taskId: "a", sessionId: "s", item: null } });
/** One type per prefix that the folds know, and one of a part that does not exist. */
const UNKNOWN = ["orchestrator", "worker", "main", "turn", "inbox", "provider", "weather"].map((part) =>
  unknown(`${part}:levitated`),
);

const begin = async () => {
  const id = await lab.create(lab.lab.scenario([...mainSession([{ id: "a" }]), goodWorker]), { autoStart: true });
  await lab.until(id, ({ status }) => status === "confirming");
  return id;
};

describe("An event of an unknown type", () => {
  it("in the log changes nothing for the engine, the server and the command line, and the run continues", async () => {
    const id = await begin();
    const views = async () => {
      const { runSeq: _, updatedAt: __, ...run } = (await lab.api(`/api/runs/${id}/snapshot`)).json.run;
      const read = async (view: string) => (await lab.api(`/api/runs/${id}/${view}`)).json;
      return { run, timeline: await read("timeline"), usage: await read("usage"), graph: await read("graph") };
    };
    const before = await views();
    await lab.stop();
    const store = openSqliteStore(join(lab.lab.data, "tutti.db"));
    const events = UNKNOWN.map((event) => ({ ...event, timestamp: Date.now() }) as unknown as NewEvent);
    const known = store.read({ run: id }).length;
    await store.append(id, known, () => events);
    const ofServer = { ...unknown("subsession:levitated"), timestamp: Date.now() } as unknown as NewEvent;
    await store.append(null, store.read({ run: null }).length, () => [ofServer]);
    await store.close();

    const printed = await tutti(["--data-dir", lab.lab.data, "logs", id]);
    expect([printed.code, printed.stderr]).toEqual([0, ""]);
    expect(printed.stdout).not.toContain("levitated");
    await lab.start();
    await lab.engine.activate(id);
    expect(await views()).toEqual(before);
    const frames = (await lab.api(`/api/runs/${id}/events?after=0`)).json as { type: string }[];
    expect(frames.slice(known).map(({ type }) => type)).toEqual(UNKNOWN.map(({ type }) => type));

    const follower = await lab.socket(`?run=${id}`);
    await lab.engine.order(id, "confirm");
    await lab.until(id, ({ status }) => status === "completed");
    await follower.until((all) => all.some(({ type }) => type === "orchestrator:completed"));
    const metrics = parseMetrics((await lab.api("/metrics")).text);
    expect(metrics.get("tutti_runs_ended_total")!.samples.map(({ value }) => value)).toEqual([1]);
  });

  it("is skipped by every other fold of events", async () => {
    const id = await begin();
    await lab.engine.order(id, "confirm");
    const run = await lab.until(id, ({ released }) => released);
    const events = lab.engine.events({ run: id });
    const { sessionId } = run.workers["a"]!;
    const added = (event: StoredEvent) =>
      UNKNOWN.map(({ type, data }) => ({ ...event, type, data: { ...data, sessionId } }) as unknown as StoredEvent);
    // The log has an unknown event of every kind after each of its own.
    const mixed = events.flatMap((event) => [event, ...added(event)]);
    const folds: Record<string, (log: readonly StoredEvent[]) => unknown> = {
      encodeTimeline: (log) => encodeTimeline(() => log),
      callsIn: (log) => callsIn(log, null),
      describeEvent: (log) => log.flatMap((event) => describeEvent(event, run) ?? []),
      eventLine: (log) => log.flatMap((event) => eventLine(event, run) ?? []),
      notificationOf: (log) => log.flatMap((event) => notificationOf(event, run) ?? []),
      replay: (log) => replay(log, null).steps.at(-1)!.run,
      RunTrace: (log) => {
        const trace = new RunTrace(id);
        return log.flatMap((event) => trace.take(event));
      },
    };
    for (const [name, fold] of Object.entries(folds)) expect(fold(mixed), name).toEqual(fold(events));
    const state = noSubSessions();
    applySubSession(state, unknown("subsession:levitated") as unknown as ServerEvent);
    expect(state).toEqual(noSubSessions());
  });
});
