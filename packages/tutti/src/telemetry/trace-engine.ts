// Sends spans of what an engine does to a collector, if somebody has said to which. Whoever has not pays nothing: the part
// that does it is not even loaded.
import type { Tracing, TracingOptions } from "./tracing.ts";

export interface EngineTrace {
  /** To be called before the engine is closed. */
  flush: () => Promise<void>;
  /** To be called after it. */
  close: () => Promise<void>;
}

/** How long a collector may hold up the end, once before the engine is closed and once after it. */
const PATIENCE_MS = 1000;
const ENDPOINTS = ["OTEL_EXPORTER_OTLP_ENDPOINT", "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT"];

export function traceEngine(options: TracingOptions): EngineTrace {
  // Nobody should wait for it. What happens meanwhile is in the log of events, from which a trace is taken up.
  const tracing: Promise<Tracing | null> = ENDPOINTS.some((name) => options.env[name])
    ? import("./tracing.ts").then(({ startTracing }) => startTracing(options))
    : Promise.resolve(null);
  return {
    flush: async () => (await tracing)?.flush(PATIENCE_MS),
    close: async () => (await tracing)?.close(PATIENCE_MS),
  };
}
