// One session of a page's session bridge: it is begun with the first prompt, followed by its transcript, and put away at
// the end.
//
// Invariants
// 1. A message is sent to the page at most once, whatever fails.
// 2. What the page says is data: only the assistant's text, the names of tools and numbers are passed on.
import { setTimeout as sleep } from "node:timers/promises";
import type { DebuggerAddress } from "./address.ts";
import { openBridge, type Bridge } from "./bridge.ts";
import { createQuestions } from "./questions.ts";
import { countUsage, readPermissions, readState, sumUsage, type Tokens } from "./read-page.ts";
import { endOf, TurnFault, TurnWatch, type Look, type Tell } from "./turn-watch.ts";
import type { Place } from "../../polled-journal.ts";
import { badge, title } from "../../polled-turn.ts";
import type { Turn } from "../../session.ts";
import type { Permissions } from "../../../schema/permissions.ts";

/** Between two looks at the transcript; and where the page tells of changes itself. */
const POLL_MS = 1000;
const SELDOM_MS = 3000;
/** A page that tells of a change with every word is looked at so often and not more. */
const SHORTEST_MS = 100;
/** After so many looks in a row that failed the session is lost. */
const MAX_FAILURES = 5;
const FIRST_BACK_OFF_MS = 250;

export interface PageSessionOptions {
  cwd: string;
  taskId: string | null;
  /** What the session may do without asking. */
  permissions: Permissions;
  tell: Tell;
}

export class PageSession {
  readonly #address: DebuggerAddress;
  readonly #cwd: string;
  readonly #taskId: string | null;
  readonly #tell: Tell;
  readonly #questions: ReturnType<typeof createQuestions>;
  readonly #counted = new Map<string, Tokens>();
  #told: Tokens = { inputTokens: 0, outputTokens: 0 };
  #bridge: Bridge | null = null;
  /** The page's name for the session, once it has begun. */
  #id: string | null = null;
  #place: Place = { count: 0, key: null };
  #wake = new AbortController();

  constructor(address: DebuggerAddress, { cwd, taskId, permissions, tell }: PageSessionOptions) {
    this.#address = address;
    this.#cwd = cwd;
    this.#taskId = taskId;
    this.#tell = tell;
    this.#questions = createQuestions({ cwd, permissions, tell });
  }

  /** Sends one prompt and tells what comes back, until the turn is over. Fails with a sentence for the person. */
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
      this.#tellUsage();
    }
  }

  async answer(askId: string, text: string): Promise<void> {
    const meant = this.#questions.answer(askId, text);
    if (meant === null) return;
    const bridge = await this.#connected();
    await bridge.permit?.(meant.requestId, meant.choice);
    this.#wake.abort();
  }

  /** Puts the session away, so that it does not go on by itself, and leaves the page as it was. */
  async end(isBusy: boolean): Promise<void> {
    const bridge = this.#bridge;
    if (bridge === null || bridge.lost() !== null) return;
    if (this.#id !== null) {
      if (isBusy) await bridge.interrupt?.(this.#id).catch(() => {});
      await bridge.archive?.(this.#id).catch(() => {});
    }
    await bridge.close();
  }

  /** Also after a page has gone and come back; the session is the same one. */
  async #connected(): Promise<Bridge> {
    if (this.#bridge !== null && this.#bridge.lost() === null) return this.#bridge;
    this.#bridge = await openBridge(this.#address, () => this.#wake.abort());
    return this.#bridge;
  }

  async #follow({ phase, variables }: Turn, id: string, stop: AbortSignal): Promise<void> {
    const { DELIMITER_START: delimiterStart = "", DELIMITER_END: delimiterEnd = "" } = variables;
    const asked = { phase, delimiterStart, delimiterEnd };
    const watch = new TurnWatch(asked, this.#place, performance.now(), this.#tell);
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
        const { over, againMs } = watch.take(await this.#look(bridge, id), interrupted, performance.now());
        if (over) return;
        failures = 0;
        waitMs = Math.min(bridge.tells ? SELDOM_MS : POLL_MS, againMs);
      } catch (error) {
        if (error instanceof TurnFault || ++failures >= MAX_FAILURES) throw error;
        waitMs = FIRST_BACK_OFF_MS * 2 ** failures;
      }
      await sleep(SHORTEST_MS);
      await sleep(waitMs - SHORTEST_MS, undefined, { signal: this.#wake.signal }).catch(() => {});
    }
  }

  /** The state first: what was said before the session came to rest is then in the transcript. */
  async #look(bridge: Bridge, id: string): Promise<Look> {
    const session = await bridge.session(id);
    const pending = readPermissions(session);
    if (pending.length > 0 && bridge.permit === null) {
      await bridge.interrupt?.(id).catch(() => {});
      const wish = `the session waits for permission to use ${pending[0]!.tool}`;
      throw new TurnFault(`${wish}, and the page has no respondToToolPermission`);
    }
    // What the run's settings decide nobody is asked.
    for (const { requestId, choice } of this.#questions.show(pending)) {
      await bridge.permit?.(requestId, choice);
      this.#questions.settle(requestId);
    }
    const transcript = await bridge.transcript(id);
    countUsage(transcript, this.#counted);
    return { busy: readState(session), waits: pending.length > 0, transcript };
  }

  #tellUsage(): void {
    const sum = sumUsage(this.#counted);
    const inputTokens = sum.inputTokens - this.#told.inputTokens;
    const outputTokens = sum.outputTokens - this.#told.outputTokens;
    this.#told = sum;
    if (inputTokens + outputTokens > 0) this.#tell({ type: "usage", inputTokens, outputTokens });
  }
}
