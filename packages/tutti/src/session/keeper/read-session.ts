// `SessionReader` turns `output.log` and `journal.jsonl` of a session folder into signals.
//
// Invariants
// 1. Output is attributed to the right turn. The keeper appends a journal entry with the length of the output before it
//    sends a turn. So `read` takes the output's length first and reads the journal second: output up to that length can
//    only belong to turns that the journal contains by then.
// 2. Signals contain no secrets: the reader masks the bytes, which may end in the middle of a secret, and also the
//    decoded texts where escapes may hide one. The keeper masks the files too, but the reader may be faster.
import type { AgentLine } from "../dialogue.ts";
import type { Decoded, Decoder } from "../driver.ts";
import { decodeMessage } from "../drivers/json-lines.ts";
import { createSecrets, type Secrets } from "../secrets/find-secrets.ts";
import { maskDecoded, mayHide } from "../secrets/mask-decoded.ts";
import { MaskStream, maskText } from "../secrets/mask.ts";
import { parseLine, SessionFile } from "./session-file.ts";
import { paths, type JournalEntry } from "./session-folder.ts";
import type { SessionSignal } from "../session.ts";
import type { Ending } from "../../schema/ending.ts";

/** `REPEAT` separates the agent's id of a question from the count that makes a repeated id unique. */
const REPEAT = "\u001f";

export const wireName = (askId: string): string => askId.split(REPEAT)[0]!;

/** A `ReadPoint` is a position between two lines at which a new reader can continue, with the state that it needs. */
export interface ReadPoint {
  journal: number;
  output: number;
  turns: readonly number[];
  interrupted: readonly number[];
  asks: ReadonlyMap<string, number>;
  stopped: boolean;
  stalled: string | null;
  /** The last turn that ended, or 0. */
  over: number;
}

interface SessionReadOptions {
  secrets?: Secrets;
  from?: ReadPoint;
}

/** Decoded messages become signals one by one, when the caller takes them. */
type Step = SessionSignal | Decoded[] | null;

/** Without known values, `byShape` masks only the shapes of secrets. */
let byShape: Secrets | null = null;

export class SessionReader {
  readonly #output: SessionFile;
  readonly #journal: SessionFile;
  readonly #mode: "stream" | "turn";
  readonly #newDecoder: () => Decoder;
  readonly #secrets: Secrets;
  #decoder: Decoder;
  #mask: MaskStream;
  #journalOffset: number;
  /** The bytes read so far. The decoder has not received those that `#mask` holds back. */
  #outputOffset: number;
  /** Open turns, the oldest first: an agent answers in order. */
  readonly #turns: number[];
  readonly #interrupted: Set<number>;
  readonly #asks: Map<string, number>;
  #stopped: boolean;
  #stalled: string | null;
  #over: number;
  #point: ReadPoint;
  #at: string | undefined;
  /** Whether the current line contains escapes that may hide a secret from `#mask`. */
  #hidden = false;

  constructor(folder: string, mode: "stream" | "turn", newDecoder: () => Decoder, options: SessionReadOptions = {}) {
    const { secrets = (byShape ??= createSecrets([])), from } = options;
    this.#output = new SessionFile(paths(folder).output);
    this.#journal = new SessionFile(paths(folder).journal);
    this.#mode = mode;
    this.#newDecoder = newDecoder;
    this.#decoder = newDecoder();
    this.#secrets = secrets;
    this.#mask = new MaskStream(secrets);
    this.#journalOffset = from?.journal ?? 0;
    this.#outputOffset = from?.output ?? 0;
    this.#turns = [...(from?.turns ?? [])];
    this.#interrupted = new Set(from?.interrupted);
    this.#asks = new Map(from?.asks);
    this.#stopped = from?.stopped ?? false;
    this.#stalled = from?.stalled ?? null;
    this.#over = from?.over ?? 0;
    this.#point = this.#here(this.#outputOffset);
  }

  /** The last point before the newest signal. A text in several pieces may begin before it. */
  get point(): ReadPoint {
    return this.#point;
  }

  /** The time of the newest signal, if it is known. */
  get at(): string | undefined {
    return this.#at;
  }

  #here(output: number): ReadPoint {
    return {
      journal: this.#journalOffset,
      output,
      turns: [...this.#turns],
      interrupted: [...this.#interrupted],
      asks: new Map(this.#asks),
      stopped: this.#stopped,
      stalled: this.#stalled,
      over: this.#over,
    };
  }

  /**
   * Yields the signals that are new since the last call. Yields null after a step without one, because a caller that
   * serves others must pause between steps.
   */
  *read(): Generator<SessionSignal | null> {
    for (const step of this.#steps()) {
      if (!Array.isArray(step)) {
        yield step;
        continue;
      }
      for (const message of step) {
        if (this.#stopped) break;
        const { at } = message;
        const plain = at === undefined ? message : withoutTime(message);
        const each = this.#hidden ? yield* maskDecoded(this.#secrets, plain) : plain;
        this.#at = at;
        if (each.type === "ask") yield { ...each, askId: this.#nextAskId(each.askId) };
        else if (each.type === "askCancelled") yield { ...each, askId: this.#lastAskId(each.askId) };
        else if (each.type !== "turnEnd") yield each;
        else yield* this.#endTurn(each.failure ? { kind: "error", ...each.failure } : SUCCESS);
      }
    }
  }

  /** The messages of a chunk are one step, because each `yield*` between them and the caller costs time per message. */
  *#steps(): Generator<Step> {
    const length = this.#output.length();
    // The keeper may still be writing the last line. The next call reads it.
    for (const { line, end } of this.#journal.lines(this.#journalOffset)) {
      const entry = parseLine<JournalEntry>(line);
      if (entry) {
        yield* this.#readOutput(entry.offset);
        yield* this.#readEntry(entry);
      }
      this.#journalOffset = end;
      // After an exit the decoder is flushed, so no line is open.
      if (entry?.type === "exited") this.#point = this.#here(this.#outputOffset);
    }
    yield* this.#readOutput(length);
  }

  *#readOutput(until: number): Generator<Step> {
    for (const chunk of this.#output.read(this.#outputOffset, until)) {
      this.#outputOffset += chunk.length;
      yield* this.#decode(this.#mask.push(chunk));
      yield null;
    }
  }

  /** Decodes whole lines first, because a `ReadPoint` must lie between two lines. */
  *#decode(bytes: Buffer): Generator<Step> {
    const whole = bytes.lastIndexOf(NEWLINE) + 1;
    if (whole > 0) {
      this.#hidden ||= mayHide(bytes.subarray(0, whole));
      yield this.#decoder.push(bytes.subarray(0, whole));
      this.#hidden = false;
      this.#point = this.#here(this.#outputOffset - this.#mask.held - (bytes.length - whole));
    }
    if (whole === bytes.length) return;
    this.#hidden ||= mayHide(bytes.subarray(whole));
    yield this.#decoder.push(bytes.subarray(whole));
  }

  *#readEntry(entry: JournalEntry): Generator<Step> {
    this.#at = entry.at;
    switch (entry.type) {
      case "started":
        yield { type: "ready" };
        return;
      case "sent":
        this.#turns.push(entry.turn);
        yield { type: "sent", turn: entry.turn };
        return;
      case "line":
        yield* this.#readLine(entry.line, entry.at);
        return;
      case "interrupted":
        // The turn may have ended before the interrupt arrived.
        if (!this.#turns.includes(entry.turn)) return;
        this.#interrupted.add(entry.turn);
        yield { type: "interrupted", turn: entry.turn };
        return;
      case "stalled":
        this.#stalled = `the agent showed no activity for ${Math.round(entry.forMs / 1000)} s`;
        yield { type: "stalled", detail: this.#stalled };
        return;
      case "stopping":
        this.#stopped = true;
        return;
      case "forged":
        this.#stopped = true;
        yield { type: "forged", name: maskText(this.#secrets, entry.name) };
        return;
      case "tooMuchOutput":
        this.#stopped = true;
        yield { type: "tooMuchOutput", limit: entry.limit };
        return;
      case "revived":
        this.#stopped = false;
        this.#startDecoding();
        for (const turn of [...this.#turns.splice(0), ...entry.unsent]) {
          this.#over = turn;
          yield { type: "turnOver", turn, ending: CUT_OFF, cutOff: true };
        }
        this.#interrupted.clear();
        yield { type: "revived" };
        return;
      case "unstartable":
        yield { type: "unstartable", error: maskText(this.#secrets, entry.error) };
        return;
      case "exited": {
        yield* this.#decode(this.#mask.end());
        yield this.#decoder.flush();
        this.#startDecoding();
        if (entry.deliberate) return;
        const how = entry.signal ? `was ended by ${entry.signal}` : `exited with ${entry.code}`;
        const clean = this.#mode === "turn" && entry.code === 0;
        yield* this.#endTurn(clean ? SUCCESS : this.#exit(how, entry.resumable === true));
      }
    }
  }

  /** `line` is one of the keeper. The agent may be in the middle of a line of its own. */
  *#readLine(line: AgentLine, at: string | undefined): Generator<Step> {
    const wasHidden = this.#hidden;
    this.#hidden = true;
    const decoded = line.type === "report" ? line : decodeMessage({ ...line });
    yield [at === undefined ? decoded : { ...decoded, at }];
    this.#hidden = wasHidden;
  }

  #startDecoding(): void {
    this.#decoder = this.#newDecoder();
    this.#mask = new MaskStream(this.#secrets);
  }

  #exit(how: string, isResumable: boolean): Ending {
    if (this.#stalled !== null) return { kind: "exited", detail: this.#stalled, cause: "stalled" };
    const detail = `the agent ${how} in the middle of its turn`;
    return { kind: "exited", detail, ...(isResumable ? { cause: "died" } : {}) };
  }

  /** Makes the id unique, because an agent may reuse one. Every `SessionReader` of the session computes the same id. */
  #nextAskId(askId: string): string {
    this.#asks.set(askId, (this.#asks.get(askId) ?? 0) + 1);
    return this.#lastAskId(askId);
  }

  #lastAskId(askId: string): string {
    const count = this.#asks.get(askId) ?? 1;
    return count === 1 ? askId : `${askId}${REPEAT}${count}`;
  }

  /** Ignores a surplus end without an open turn. */
  *#endTurn(ending: Ending): Generator<SessionSignal | null> {
    this.#stalled = null;
    const turn = this.#turns.shift();
    if (turn === undefined) return;
    this.#over = turn;
    yield { type: "turnOver", turn, ending: this.#interrupted.delete(turn) ? interrupted(ending) : ending };
  }
}

function withoutTime(message: Decoded): Decoded {
  const { at: _, ...plain } = message;
  return plain;
}

const NEWLINE = 0x0a;
const SUCCESS: Ending = { kind: "ended", detail: "the turn ended" };
const CUT_OFF: Ending = { kind: "interrupted", detail: "the session was suspended" };

const interrupted = ({ kind, detail }: Ending): Ending => ({
  kind: "interrupted",
  detail: kind === "ended" ? "the turn was interrupted" : `the turn was interrupted: ${detail}`,
});
