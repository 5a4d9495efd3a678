// `OtlpExporter` sends spans to a collector over HTTP in batches. A slow or broken collector does not affect the
// engine: the queue is bounded, spans that cannot be sent are dropped, and the log gets one line when failures start
// and one when they end.
import type { Log } from "./log.ts";
import { encodeSpans } from "./otlp-json.ts";
import type { TraceSettings } from "./otlp-settings.ts";
import type { Span } from "./span.ts";
import type { World } from "../world.ts";

const BATCH = 512;
const MAX_WAITING = 8192;
const EVERY_MS = 2000;
/** A batch is dropped after `TRIES` attempts, with exponential back-off from `FIRST_WAIT_MS`. */
const TRIES = 5;
const FIRST_WAIT_MS = 1000;
const LONGEST_WAIT_MS = 30_000;
const RETRYABLE = new Set([429, 502, 503, 504]);

interface ExporterOptions {
  settings: TraceSettings;
  log: Log;
  world: World;
}

type SendResult = { ok: true } | { ok: false; reason: string; canRetry: boolean; waitMs: number | null };

export class OtlpExporter {
  readonly #options: ExporterOptions;
  readonly #end = new AbortController();
  #queue: Span[] = [];
  #sending: Promise<void> | null = null;
  #pause = new AbortController();
  #flushing = false;
  #dropped = 0;
  #failing = false;

  constructor(options: ExporterOptions) {
    this.#options = options;
  }

  add(span: Span): void {
    if (this.#end.signal.aborted) return;
    if (this.#queue.length >= MAX_WAITING) {
      this.#dropped += 1;
      return;
    }
    this.#queue.push(span);
    this.#sending ??= this.#send();
    if (this.#queue.length >= BATCH) this.#pause.abort();
  }

  /** Sends the queued spans now, without back-off. `flush` waits up to `ms` milliseconds for that. */
  async flush(ms: number): Promise<void> {
    if (!this.#sending) return;
    const { world } = this.#options;
    this.#flushing = true;
    this.#pause.abort();
    const timeout = new AbortController();
    await Promise.race([this.#sending, world.sleep(ms, timeout.signal)]);
    timeout.abort();
    this.#flushing = false;
  }

  /** Unlike `flush`, drops the remaining spans and every later one. */
  async close(ms: number): Promise<void> {
    await this.flush(ms);
    this.#dropped += this.#queue.length;
    this.#end.abort();
    this.#pause.abort();
    await this.#sending;
    if (this.#dropped > 0) this.#options.log.warn("spans dropped", { dropped: this.#dropped });
  }

  async #send(): Promise<void> {
    await this.#wait(EVERY_MS);
    let tries = 0;
    while (this.#queue.length > 0 && !this.#end.signal.aborted) {
      const batch = this.#queue.slice(0, BATCH);
      const result = await this.#post(batch);
      if (this.#end.signal.aborted) break;
      tries += 1;
      this.#logChange(result);
      if (!result.ok && result.canRetry && tries < TRIES && !this.#flushing) {
        await this.#wait(result.waitMs ?? Math.min(LONGEST_WAIT_MS, FIRST_WAIT_MS * 2 ** (tries - 1)));
        continue;
      }
      if (!result.ok) this.#dropped += batch.length;
      this.#queue = this.#queue.slice(batch.length);
      tries = 0;
      if (this.#queue.length > 0 && this.#queue.length < BATCH) await this.#wait(EVERY_MS);
    }
    // Reset in the same synchronous step as the last check of `#queue`, so that `add` cannot miss the end of the loop.
    this.#sending = null;
  }

  /** Ends early when a full batch is queued, and at once during a `flush`. */
  async #wait(ms: number): Promise<void> {
    this.#pause = new AbortController();
    if (!this.#flushing) await this.#options.world.sleep(ms, this.#pause.signal, true);
  }

  async #post(batch: readonly Span[]): Promise<SendResult> {
    const { url, headers, timeoutMs, resource } = this.#options.settings;
    try {
      const response = await fetch(url, {
        method: "POST",
        headers: { ...headers, "content-type": "application/json" },
        body: JSON.stringify(encodeSpans(batch, resource)),
        signal: AbortSignal.any([this.#end.signal, AbortSignal.timeout(timeoutMs)]),
      });
      await response.arrayBuffer();
      if (response.ok) return { ok: true };
      const seconds = Number(response.headers.get("retry-after") ?? Number.NaN);
      const waitMs = seconds >= 0 ? Math.min(LONGEST_WAIT_MS, seconds * 1000) : null;
      return {
        ok: false,
        reason: `the collector answered with status ${response.status}`,
        canRetry: RETRYABLE.has(response.status),
        waitMs,
      };
    } catch (error) {
      const { message, cause } = error as Error;
      const reason = cause instanceof Error && cause.message !== "" ? cause.message : message;
      return { ok: false, reason, canRetry: true, waitMs: null };
    }
  }

  #logChange(result: SendResult): void {
    const { log, settings } = this.#options;
    const { origin } = new URL(settings.url);
    if (!result.ok && !this.#failing) log.warn("span export failed", { collector: origin, reason: result.reason });
    if (result.ok && this.#failing) log.info("span export recovered", { collector: origin, dropped: this.#dropped });
    this.#failing = !result.ok;
  }
}
