// What happened in a session, read from its folder: first everything so far, then whatever comes.
//
// Output and journal are two files, and their order matters: which turn do these bytes belong to? The keeper notes a turn
// before it sends it, and each note carries the length of the output at that moment. So the output's length is taken
// first, then the journal is read; bytes up to that length can only answer turns that the journal now holds.
//
// Secrets are masked before anything is told: in the bytes, where one may be cut anywhere, and where escapes may hide one,
// once more in the decoded texts. The keeper masks the files as well, but whoever reads may be faster.
import type { Decoded, Decoder } from "./driver.ts";
import { createSecrets, type Secrets } from "./find-secrets.ts";
import { maskDecoded, mayHide } from "./mask-decoded.ts";
import { MaskStream, maskText } from "./mask.ts";
import { SessionFile } from "./session-file.ts";
import { paths, type JournalEntry } from "./session-folder.ts";
import type { SessionSignal } from "./session.ts";
import type { Ending } from "../schema/ending.ts";

/** Stands between a question's own name and its number where that name was used before. */
const REPEAT = "\u001f";

/** The name by which the agent knows its question. */
export const wireName = (askId: string): string => askId.split(REPEAT)[0]!;

/** A point from which a session can be read on as if from its beginning: between two lines, with nothing left open. */
export interface ReadPoint {
  journal: number;
  output: number;
  turns: readonly number[];
  interrupted: readonly number[];
  asks: ReadonlyMap<string, number>;
  stopped: boolean;
  stalled: string | null;
  /** The last turn that is over; 0 if none is. */
  over: number;
}

export interface ReadOptions {
  secrets?: Secrets;
  from?: ReadPoint;
}

/** Where no values are known, what looks like a secret is one. */
const BY_SHAPE = createSecrets([]);

export class SessionReader {
  readonly #output: SessionFile;
  readonly #journal: SessionFile;
  readonly #mode: "stream" | "turn";
  readonly #newDecoder: () => Decoder;
  readonly #secrets: Secrets;
  #decoder: Decoder;
  #mask: MaskStream;
  #journalOffset: number;
  /** How much of the output has been read; what the mask holds back has not reached the decoder. */
  #outputOffset: number;
  /** Turns that were sent and not answered, the oldest first: an agent answers in order. */
  readonly #turns: number[];
  readonly #interrupted: Set<number>;
  readonly #asks: Map<string, number>;
  #stopped: boolean;
  #stalled: string | null;
  #over: number;
  #point: ReadPoint;
  /** Whether the line that is open, or one that is being told, has escapes that the bytes were not searched for. */
  #hidden = false;

  constructor(folder: string, mode: "stream" | "turn", newDecoder: () => Decoder, options: ReadOptions = {}) {
    const { secrets = BY_SHAPE, from } = options;
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

  /** The last point before what was told last. Text that came in pieces may have begun before it. */
  get point(): ReadPoint {
    return this.#point;
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

  /** Everything that is new since the last call. */
  *read(): Generator<SessionSignal> {
    const length = this.#output.length();
    for (const { entry, end } of this.#readJournal()) {
      if (entry) {
        yield* this.#readOutput(entry.offset);
        yield* this.#enter(entry);
      }
      this.#journalOffset = end;
      // Only an agent that has ended has surely ended its line.
      if (entry?.type === "exited") this.#point = this.#here(this.#outputOffset);
    }
    yield* this.#readOutput(length);
  }

  *#readJournal(): Generator<{ entry: JournalEntry | null; end: number }> {
    let open: Buffer = Buffer.alloc(0);
    let end = this.#journalOffset;
    for (const chunk of this.#journal.read(end, Number.POSITIVE_INFINITY)) {
      const bytes = Buffer.concat([open, chunk]);
      let from = 0;
      // A line that is still being written has no end yet and is read next time.
      for (let at = bytes.indexOf(NEWLINE); at >= 0; at = bytes.indexOf(NEWLINE, from)) {
        const line = bytes.toString("utf8", from, at);
        end += at + 1 - from;
        from = at + 1;
        yield { entry: line === "" ? null : parseEntry(line), end };
      }
      open = Buffer.from(bytes.subarray(from));
    }
  }

  *#readOutput(until: number): Generator<SessionSignal> {
    for (const chunk of this.#output.read(this.#outputOffset, until)) {
      this.#outputOffset += chunk.length;
      yield* this.#decode(this.#mask.push(chunk));
    }
  }

  /** Whole lines first: between two lines is a point to read on from. */
  *#decode(bytes: Buffer): Generator<SessionSignal> {
    const whole = bytes.lastIndexOf(NEWLINE) + 1;
    if (whole > 0) {
      this.#hidden ||= mayHide(bytes.subarray(0, whole));
      yield* this.#mean(this.#decoder.push(bytes.subarray(0, whole)));
      this.#hidden = false;
      this.#point = this.#here(this.#outputOffset - this.#mask.held - (bytes.length - whole));
    }
    if (whole === bytes.length) return;
    this.#hidden ||= mayHide(bytes.subarray(whole));
    yield* this.#mean(this.#decoder.push(bytes.subarray(whole)));
  }

  *#mean(decoded: Decoded[]): Generator<SessionSignal> {
    for (const plain of decoded) {
      if (this.#stopped) return;
      const each = this.#hidden ? maskDecoded(this.#secrets, plain) : plain;
      if (each.type === "ask") yield { ...each, askId: this.#ownName(each.askId) };
      else if (each.type === "askCancelled") yield { ...each, askId: this.#lastName(each.askId) };
      else if (each.type !== "turnEnd") yield each;
      else yield* this.#endTurn(each.failure ? { kind: "error", ...each.failure } : WELL);
    }
  }

  *#enter(entry: JournalEntry): Generator<SessionSignal> {
    switch (entry.type) {
      case "started":
        yield { type: "ready" };
        return;
      case "sent":
        this.#turns.push(entry.turn);
        yield { type: "sent", turn: entry.turn };
        return;
      case "interrupted":
        // The turn may have ended while it was being interrupted; then there is nothing to tell.
        if (!this.#turns.includes(entry.turn)) return;
        this.#interrupted.add(entry.turn);
        yield { type: "interrupted", turn: entry.turn };
        return;
      case "stalled":
        this.#stalled = `nothing of the agent moved for ${Math.round(entry.forMs / 1000)} s`;
        yield { type: "stalled", detail: this.#stalled };
        return;
      case "stopping":
        this.#stopped = true;
        return;
      case "unstartable":
        yield { type: "unstartable", error: maskText(this.#secrets, entry.error) };
        return;
      case "exited": {
        yield* this.#decode(this.#mask.end());
        yield* this.#mean(this.#decoder.flush());
        this.#decoder = this.#newDecoder();
        this.#mask = new MaskStream(this.#secrets);
        if (entry.deliberate) return;
        const how = entry.signal ? `was ended by ${entry.signal}` : `exited with ${entry.code}`;
        const clean = this.#mode === "turn" && entry.code === 0;
        yield* this.#endTurn(clean ? WELL : this.#exit(how));
      }
    }
  }

  #exit(how: string): Ending {
    if (this.#stalled === null) return { kind: "exited", detail: `the agent ${how} in the middle of its turn` };
    return { kind: "exited", detail: this.#stalled, cause: "stalled" };
  }

  /** An agent may use one name for several questions; here each has a name of its own, the same whenever it is read. */
  #ownName(askId: string): string {
    this.#asks.set(askId, (this.#asks.get(askId) ?? 0) + 1);
    return this.#lastName(askId);
  }

  #lastName(askId: string): string {
    const count = this.#asks.get(askId) ?? 1;
    return count === 1 ? askId : `${askId}${REPEAT}${count}`;
  }

  /** An end without an open turn is one too many and means nothing. */
  *#endTurn(ending: Ending): Generator<SessionSignal> {
    this.#stalled = null;
    const turn = this.#turns.shift();
    if (turn === undefined) return;
    this.#over = turn;
    yield { type: "turnOver", turn, ending: this.#interrupted.delete(turn) ? interrupted(ending) : ending };
  }
}

const NEWLINE = 0x0a;
const WELL: Ending = { kind: "ended", detail: "the turn ended" };

/** A power cut can leave a line in pieces. Nobody acts on such a journal any more, but people may read what is left of it. */
function parseEntry(line: string): JournalEntry | null {
  try {
    return JSON.parse(line) as JournalEntry;
  } catch {
    return null;
  }
}

/** However an agent ends a turn that it was asked to stop, we are the reason. */
const interrupted = ({ kind, detail }: Ending): Ending => ({
  kind: "interrupted",
  detail: kind === "ended" ? "the turn was interrupted" : `the turn was interrupted: ${detail}`,
});
