// Spans of everything that happens, as it happens. Loaded only where somebody has said where to send them.
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
  /** Any value without what is secret in it. */
  mask: <T>(value: T) => T;
  world: World;
}

export interface Tracing {
  /** Sends what has ended until now, for so long at most. To be called while the engine can still be asked. */
  flush: (ms: number) => Promise<void>;
  close: (ms: number) => Promise<void>;
}

interface Known {
  trace: RunTrace;
  /** What is up to this event was copied from elsewhere, and is not told. */
  copiedUntil: number;
  /** How far the transcript of each session was read. */
  read: Map<string, number>;
}

/** Turns whose tools are still to be looked up; a server that is that busy tells of the turns alone. */
const MAX_LOOKUPS = 256;

/** Null if the settings cannot be used; the log says why. */
export function startTracing({ engine, env, version, log, mask, world }: TracingOptions): Tracing | null {
  const settings = readTraceSettings(env, version);
  if (settings === null) return null;
  if (typeof settings === "string") {
    log.warn(settings);
    return null;
  }
  const exporter = new OtlpExporter({ settings, log, world });
  const runs = new Map<string, Known>();
  let lookups: Promise<void> = Promise.resolve();
  let open = 0;

  const send = (span: Span) => exporter.add(mask(span));
  const lookUp = (id: string, known: Known, ended: { span: Span; turn: TracedTurn }) => {
    if (open >= MAX_LOOKUPS) return;
    open += 1;
    const { sessionId } = ended.turn;
    lookups = lookups
      .then(async () => {
        const { spans, last } = await toolSpans(engine, id, ended, known.read.get(sessionId) ?? 0);
        known.read.set(sessionId, last);
        for (const span of spans) send(span);
      })
      .catch((error: unknown) => log.debug("tools of a turn cannot be told", { run: id, error: String(error) }))
      .finally(() => (open -= 1));
  };
  const tell = (id: string, known: Known, { span, turn }: Ended) => {
    send(span);
    if (turn) lookUp(id, known, { span, turn });
  };
  const leave = engine.subscribe((event, run) => {
    if (!run) return;
    const known = runs.get(run.id) ?? takeUp(engine, event, run);
    runs.set(run.id, known);
    const ended = known.trace.take(event);
    if (event.runSeq > known.copiedUntil) for (const each of ended) tell(run.id, known, each);
    // Nothing more is expected of it. If it is opened again, the log has its past.
    if (event.type === "workspace:released") runs.delete(run.id);
  });

  /** Waits for what is being looked up; returns how much of the time is left. */
  const lookedUp = async (ms: number): Promise<number> => {
    const until = world.mono() + ms;
    const late = new AbortController();
    await Promise.race([lookups, world.sleep(ms, late.signal)]);
    late.abort();
    return Math.max(0, until - world.mono());
  };
  return {
    flush: async (ms) => exporter.flush(await lookedUp(ms)),
    close: async (ms) => {
      leave();
      await exporter.close(await lookedUp(ms));
    },
  };
}

/** A run that was not heard of before, with what the log has of it. Others have told of that already. */
function takeUp(engine: Engine, { runSeq }: StoredEvent, run: Run): Known {
  const trace = new RunTrace(run.id);
  if (runSeq === 1) return { trace, copiedUntil: run.runSeq > 1 ? run.runSeq : 0, read: new Map() };
  for (const event of engine.events({ run: run.id })) if (event.runSeq < runSeq) trace.take(event);
  return { trace, copiedUntil: 0, read: new Map() };
}
