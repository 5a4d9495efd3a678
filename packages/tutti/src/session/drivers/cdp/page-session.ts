// `PageSession` runs one session of a page's bridge: starts it with the first prompt, polls its transcript, archives it
// at the end.
//
// Invariants
// 1. A message is sent to the page at most once.
// 2. Only assistant text, tool calls, permission requests and token counts of the page are passed on.
import { setTimeout as sleep } from "node:timers/promises";
import type { DebuggerAddress } from "./address.ts";
import { openBridge, type Bridge } from "./bridge.ts";
import { createQuestions } from "./questions.ts";
import { countUsage, readPermissions, readState, sumUsage } from "./read-page.ts";
import { endOf, TurnFault, TurnWatch, type PageState, type EmitLine } from "./turn-watch.ts";
import type { TokenCounts } from "../../dialogue.ts";
import type { JournalPosition } from "../../polled/polled-journal.ts";
import { badge, title } from "../../polled/polled-turn.ts";
import type { Turn } from "../../session.ts";
import type { Permissions } from "../../../schema/permissions.ts";

const POLL_MS = 1000;
/** A page that emits events is polled every `SELDOM_MS`. */
const SELDOM_MS = 3000;
/** A page that emits an event for every word is polled every `SHORTEST_MS` at most. */
const SHORTEST_MS = 100;
/** After `MAX_FAILURES` failed polls in a row the turn fails. */
const MAX_FAILURES = 5;
const FIRST_BACK_OFF_MS = 250;

interface PageSessionOptions {
  cwd: string;
  taskId: string | null;
  permissions: Permissions;
  emit: EmitLine;
}

export class PageSession {
  readonly #address: DebuggerAddress;
  readonly #cwd: string;
  readonly #taskId: string | null;
  readonly #emit: EmitLine;
  readonly #questions: ReturnType<typeof createQuestions>;
  readonly #counted = new Map<string, TokenCounts>();
  #reported: TokenCounts = { inputTokens: 0, outputTokens: 0 };
  #bridge: Bridge | null = null;
  /** The page's id of the session; null before the first prompt. */
  #id: string | null = null;
  #place: JournalPosition = { count: 0, key: null };
  #wake = new AbortController();

  constructor(address: DebuggerAddress, { cwd, taskId, permissions, emit }: PageSessionOptions) {
    this.#address = address;
    this.#cwd = cwd;
    this.#taskId = taskId;
    this.#emit = emit;
    this.#questions = createQuestions({ cwd, permissions, emit });
  }

  /** Resolves at the end of the turn. If `converse` rejects, the message is for the user. */
  async converse(turn: Turn, stop: AbortSignal): Promise<void> {
    const bridge = await this.#connected();
    const text = this.#taskId === null ? `${badge(turn)}\n\n${turn.text}` : turn.text;
    if (this.#id === null) {
      this.#id = await bridge.start(this.#cwd, text, title({ taskId: this.#taskId }, turn));
    } else {
      this.#place = endOf(await bridge.transcript(this.#id));
      await bridge.send(this.#id, text);
    }
    try {
      await this.#follow(turn, this.#id, stop);
    } finally {
      this.#reportUsage();
    }
  }

  async answer(askId: string, text: string): Promise<void> {
    const decision = this.#questions.answer(askId, text);
    if (decision === null) return;
    const bridge = await this.#connected();
    await bridge.permit?.(decision.requestId, decision.choice);
    this.#wake.abort();
  }

  /** Archives the session, so that it does not continue on its own, and removes the subscription from the page. */
  async end(isBusy: boolean): Promise<void> {
    const bridge = this.#bridge;
    if (bridge === null || bridge.lost() !== null) return;
    if (this.#id !== null) {
      if (isBusy) await bridge.interrupt?.(this.#id).catch(() => {});
      await bridge.archive?.(this.#id).catch(() => {});
    }
    await bridge.close();
  }

  /** Reconnects to a page that was closed and opened again; the session stays the same. */
  async #connected(): Promise<Bridge> {
    if (this.#bridge !== null && this.#bridge.lost() === null) return this.#bridge;
    this.#bridge = await openBridge(this.#address, () => this.#wake.abort());
    return this.#bridge;
  }

  async #follow({ phase, variables }: Turn, id: string, stop: AbortSignal): Promise<void> {
    const { DELIMITER_START: delimiterStart = "", DELIMITER_END: delimiterEnd = "" } = variables;
    const expected = { phase, delimiterStart, delimiterEnd };
    const watch = new TurnWatch(expected, this.#place, performance.now(), this.#emit);
    stop.addEventListener("abort", () => this.#wake.abort());
    let interrupted = false;
    for (let failures = 0; ;) {
      this.#wake = new AbortController();
      let waitMs: number;
      try {
        const bridge = await this.#connected();
        if (stop.aborted && !interrupted && bridge.interrupt !== null) {
          await bridge.interrupt(id);
          interrupted = true;
        }
        const { over, againMs } = watch.take(await this.#poll(bridge, id), interrupted, performance.now());
        if (over) return;
        failures = 0;
        waitMs = Math.min(bridge.emitsEvents ? SELDOM_MS : POLL_MS, againMs);
      } catch (error) {
        if (error instanceof TurnFault || ++failures >= MAX_FAILURES) throw error;
        waitMs = FIRST_BACK_OFF_MS * 2 ** failures;
      }
      await sleep(SHORTEST_MS);
      await sleep(waitMs - SHORTEST_MS, undefined, { signal: this.#wake.signal }).catch(() => {});
    }
  }

  /** Reads the state before the transcript, so that the transcript of an idle session is complete. */
  async #poll(bridge: Bridge, id: string): Promise<PageState> {
    const session = await bridge.session(id);
    const pending = readPermissions(session);
    if (pending.length > 0 && bridge.permit === null) {
      await bridge.interrupt?.(id).catch(() => {});
      const problem = `the session waits for permission to use ${pending[0]!.tool}`;
      throw new TurnFault(`${problem}, but the page has no respondToToolPermission`);
    }
    for (const { requestId, choice } of this.#questions.show(pending)) {
      await bridge.permit?.(requestId, choice);
      this.#questions.settle(requestId);
    }
    const transcript = await bridge.transcript(id);
    countUsage(transcript, this.#counted);
    return { busy: readState(session), waits: pending.length > 0, transcript };
  }

  #reportUsage(): void {
    const sum = sumUsage(this.#counted);
    const inputTokens = sum.inputTokens - this.#reported.inputTokens;
    const outputTokens = sum.outputTokens - this.#reported.outputTokens;
    this.#reported = sum;
    if (inputTokens + outputTokens > 0) this.#emit({ type: "usage", inputTokens, outputTokens });
  }
}
