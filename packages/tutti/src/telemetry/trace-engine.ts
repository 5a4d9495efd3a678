import type { Tracing, TracingOptions } from "./tracing.ts";

interface EngineTrace {
  /** Call `flush` before the engine is closed: it reads transcripts. */
  flush: () => Promise<void>;
  close: () => Promise<void>;
}

/** `TIMEOUT_MS` limits `flush` and `close`, so that a slow collector cannot delay the shutdown for long. */
const TIMEOUT_MS = 1000;
const ENDPOINTS = ["OTEL_EXPORTER_OTLP_ENDPOINT", "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT"];

/** Sends the engine's spans to a collector. `tracing.ts` is loaded only if an endpoint is configured. */
export function traceEngine(options: TracingOptions): EngineTrace {
  // Not awaited. Events that are stored while `tracing.ts` loads are replayed from the log, like those before the
  // start.
  const tracing: Promise<Tracing | null> = ENDPOINTS.some((name) => options.env[name])
    ? import("./tracing.ts").then(({ startTracing }) => startTracing(options))
    : Promise.resolve(null);
  return {
    flush: async () => (await tracing)?.flush(TIMEOUT_MS),
    close: async () => (await tracing)?.close(TIMEOUT_MS),
  };
}
