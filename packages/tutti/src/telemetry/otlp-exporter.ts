// Sends spans to a collector over HTTP, some at a time. Whatever the collector does, the engine does not notice: what waits
// is bounded, what cannot be sent is dropped, and one line in the log says so when it begins and one when it is over.
import type { Log } from "./log.ts";
import { encodeSpans } from "./otlp-json.ts";
import type { TraceSettings } from "./otlp-settings.ts";
import type { Span } from "./span.ts";
import type { World } from "../world.ts";

const BATCH = 512;
const MAX_WAITING = 8192;
const EVERY_MS = 2000;
/** A batch is sent so often before it is dropped, each time after a longer wait. */
const TRIES = 5;
const FIRST_WAIT_MS = 1000;
const LONGEST_WAIT_MS = 30_000;
/** Answers after which the same may be accepted later. */
const RETRYABLE = new Set([429, 502, 503, 504]);

export interface ExporterOptions {
  settings: TraceSettings;
  log: Log;
  world: World;
}

type Sent = { ok: true } | { ok: false; why: string; again: boolean; waitMs: number | null };

export class OtlpExporter {
  readonly #options: ExporterOptions;
  readonly #end = new AbortController();
  #waiting: Span[] = [];
  #sending: Promise<void> | null = null;
  #rest = new AbortController();
  #hurried = false;
  #dropped = 0;
  #failing = false;

  constructor(options: ExporterOptions) {
    this.#options = options;
  }

  add(span: Span): void {
    if (this.#end.signal.aborted) return;
    if (this.#waiting.length >= MAX_WAITING) {
      this.#dropped += 1;
      return;
    }
    this.#waiting.push(span);
    this.#sending ??= this.#send();
    if (this.#waiting.length >= BATCH) this.#rest.abort();
  }

  /** Sends what waits now, for so long at most. */
  async flush(ms: number): Promise<void> {
    if (!this.#sending) return;
    const { world } = this.#options;
    this.#hurried = true;
    this.#rest.abort();
    const late = new AbortController();
    await Promise.race([this.#sending, world.sleep(ms, late.signal)]);
    late.abort();
    this.#hurried = false;
  }

  /** The same, and nothing after it. */
  async close(ms: number): Promise<void> {
    await this.flush(ms);
    this.#dropped += this.#waiting.length;
    this.#end.abort();
    this.#rest.abort();
    await this.#sending;
    if (this.#dropped > 0) this.#options.log.warn("spans were not sent", { dropped: this.#dropped });
  }

  async #send(): Promise<void> {
    await this.#wait(EVERY_MS);
    let tries = 0;
    while (this.#waiting.length > 0 && !this.#end.signal.aborted) {
      const batch = this.#waiting.slice(0, BATCH);
      const sent = await this.#post(batch);
      if (this.#end.signal.aborted) break;
      tries += 1;
      this.#tell(sent);
      if (!sent.ok && sent.again && tries < TRIES && !this.#hurried) {
        await this.#wait(sent.waitMs ?? Math.min(LONGEST_WAIT_MS, FIRST_WAIT_MS * 2 ** (tries - 1)));
        continue;
      }
      if (!sent.ok) this.#dropped += batch.length;
      this.#waiting = this.#waiting.slice(batch.length);
      tries = 0;
      if (this.#waiting.length > 0 && this.#waiting.length < BATCH) await this.#wait(EVERY_MS);
    }
    // In the same step as the last look at what waits, so that nothing is added unseen in between.
    this.#sending = null;
  }

  /** Until the time is over or there is enough to send; nobody waits when the end has come. */
  async #wait(ms: number): Promise<void> {
    this.#rest = new AbortController();
    if (!this.#hurried) await this.#options.world.sleep(ms, this.#rest.signal, true);
  }

  async #post(batch: readonly Span[]): Promise<Sent> {
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
      return { ok: false, why: `it answers with ${response.status}`, again: RETRYABLE.has(response.status), waitMs };
    } catch (error) {
      const { message, cause } = error as Error;
      const why = cause instanceof Error && cause.message !== "" ? cause.message : message;
      return { ok: false, why, again: true, waitMs: null };
    }
  }

  /** Only what changes is worth a line. */
  #tell(sent: Sent): void {
    const { log, settings } = this.#options;
    const { origin } = new URL(settings.url);
    if (!sent.ok && !this.#failing) log.warn("spans cannot be sent", { collector: origin, reason: sent.why });
    if (sent.ok && this.#failing) log.info("spans are sent again", { collector: origin, dropped: this.#dropped });
    this.#failing = !sent.ok;
  }
}
