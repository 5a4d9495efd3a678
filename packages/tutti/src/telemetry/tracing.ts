import type { Log } from "./log.ts";
import { OtlpExporter } from "./otlp-exporter.ts";
import { readTraceSettings } from "./otlp-settings.ts";
import { RunTrace, type Ended, type TracedTurn } from "./run-trace.ts";
import type { Span } from "./span.ts";
import { toolSpans } from "./tool-spans.ts";
import type { Engine } from "../engine/engine.ts";
import type { StoredEvent } from "../schema/event.ts";
import type { Run } from "../schema/run.ts";
import type { World } from "../world.ts";

export interface TracingOptions {
  engine: Engine;
  env: Readonly<Record<string, string | undefined>>;
  version: string;
  log: Log;
  mask: <T>(value: T) => T;
  world: World;
}

export interface Tracing {
  /** Sends the spans that have ended, for at most `ms`. Call `flush` before the engine closes: it reads transcripts. */
  flush: (ms: number) => Promise<void>;
  close: (ms: number) => Promise<void>;
}

interface TracedRun {
  trace: RunTrace;
  /** Last `runSeq` of the events that a fork or import copied. Their spans are not sent. */
  copiedUntil: number;
  /** The last transcript entry that `toolSpans` read, by session. */
  read: Map<string, number>;
}

/** Beyond `MAX_LOOKUPS` queued transcript lookups, turns are sent without tool spans. */
const MAX_LOOKUPS = 256;

/** Returns null if tracing is off or the settings are invalid, which is logged. */
export function startTracing({ engine, env, version, log, mask, world }: TracingOptions): Tracing | null {
  const settings = readTraceSettings(env, version);
  if (settings === null) return null;
  if (typeof settings === "string") {
    log.warn(settings);
    return null;
  }
  const exporter = new OtlpExporter({ settings, log, world });
  const runs = new Map<string, TracedRun>();
  let lookups: Promise<void> = Promise.resolve();
  let open = 0;

  const send = (span: Span) => exporter.add(mask(span));
  const lookUp = (id: string, traced: TracedRun, ended: { span: Span; turn: TracedTurn }) => {
    if (open >= MAX_LOOKUPS) return;
    open += 1;
    const { sessionId } = ended.turn;
    lookups = lookups
      .then(async () => {
        const { spans, last } = await toolSpans(engine, id, ended, traced.read.get(sessionId) ?? 0);
        traced.read.set(sessionId, last);
        for (const span of spans) send(span);
      })
      .catch((error: unknown) => log.debug("tool spans of a turn failed", { run: id, error: String(error) }))
      .finally(() => (open -= 1));
  };
  const sendEnded = (id: string, traced: TracedRun, { span, turn }: Ended) => {
    send(span);
    if (turn) lookUp(id, traced, { span, turn });
  };
  const unsubscribe = engine.subscribe((event, run) => {
    if (!run) return;
    const traced = runs.get(run.id) ?? restoreRun(engine, event, run);
    runs.set(run.id, traced);
    const ended = traced.trace.take(event);
    if (event.runSeq > traced.copiedUntil) for (const each of ended) sendEnded(run.id, traced, each);
    // The last event of a run, unless it is reopened. Then `restoreRun` replays the log.
    if (event.type === "workspace:released") runs.delete(run.id);
  });

  /** Returns the milliseconds that are left of `ms`. */
  const waitForLookups = async (ms: number): Promise<number> => {
    const until = world.mono() + ms;
    const timeout = new AbortController();
    await Promise.race([lookups, world.sleep(ms, timeout.signal)]);
    timeout.abort();
    return Math.max(0, until - world.mono());
  };
  return {
    flush: async (ms) => exporter.flush(await waitForLookups(ms)),
    close: async (ms) => {
      unsubscribe();
      await exporter.close(await waitForLookups(ms));
    },
  };
}

/** Replays the earlier events of a run without sending their spans, which an earlier process has sent. */
function restoreRun(engine: Engine, { runSeq }: StoredEvent, run: Run): TracedRun {
  const trace = new RunTrace(run.id);
  if (runSeq === 1) return { trace, copiedUntil: run.runSeq > 1 ? run.runSeq : 0, read: new Map() };
  for (const event of engine.events({ run: run.id })) if (event.runSeq < runSeq) trace.take(event);
  return { trace, copiedUntil: 0, read: new Map() };
}
