// What happened in a session, read from its folder: first everything so far, then whatever comes.
//
// Output and journal are two files, and their order matters: which turn do these bytes belong to? The keeper notes a turn
// before it sends it, and each note carries the length of the output at that moment. So the output's length is taken
// first, then the journal is read; bytes up to that length can only answer turns that the journal now holds.
import type { Decoded, Decoder } from "./driver.ts";
import { SessionFile } from "./session-file.ts";
import { paths, type JournalEntry } from "./session-folder.ts";
import type { SessionSignal } from "./session.ts";
import type { Ending } from "../schema/event.ts";

/** Stands between a question's own name and its number where that name was used before. */
const REPEAT = "\u001f";

/** The name by which the agent knows its question. */
export const wireName = (askId: string): string => askId.split(REPEAT)[0]!;

export class SessionReader {
  readonly #output: SessionFile;
  readonly #journal: SessionFile;
  readonly #mode: "stream" | "turn";
  readonly #newDecoder: () => Decoder;
  #decoder: Decoder;
  #journalOffset = 0;
  #outputOffset = 0;
  /** Turns that were sent and not answered, the oldest first: an agent answers in order. */
  readonly #turns: number[] = [];
  readonly #interrupted = new Set<number>();
  readonly #asks = new Map<string, number>();
  #stopped = false;

  constructor(folder: string, mode: "stream" | "turn", newDecoder: () => Decoder) {
    this.#output = new SessionFile(paths(folder).output);
    this.#journal = new SessionFile(paths(folder).journal);
    this.#mode = mode;
    this.#newDecoder = newDecoder;
    this.#decoder = newDecoder();
  }

  /** Everything that is new since the last call. */
  *read(): Generator<SessionSignal> {
    const length = this.#output.length();
    for (const entry of this.#readJournal()) {
      yield* this.#readOutput(entry.offset);
      yield* this.#enter(entry);
    }
    yield* this.#readOutput(length);
  }

  *#readJournal(): Generator<JournalEntry> {
    const chunks = [...this.#journal.read(this.#journalOffset, Number.POSITIVE_INFINITY)];
    const bytes = Buffer.concat(chunks);
    // A line that is still being written has no end yet and is read next time.
    const whole = bytes.subarray(0, bytes.lastIndexOf(0x0a) + 1);
    this.#journalOffset += whole.length;
    for (const line of whole.toString("utf8").split("\n")) {
      if (line !== "") yield JSON.parse(line) as JournalEntry;
    }
  }

  *#readOutput(until: number): Generator<SessionSignal> {
    for (const chunk of this.#output.read(this.#outputOffset, until)) {
      this.#outputOffset += chunk.length;
      yield* this.#mean(this.#decoder.push(chunk));
    }
  }

  *#mean(decoded: Decoded[]): Generator<SessionSignal> {
    for (const each of decoded) {
      if (this.#stopped) return;
      if (each.type === "ask") yield { ...each, askId: this.#ownName(each.askId) };
      else if (each.type !== "turnEnd") yield each;
      else if (each.error === null) yield* this.#endTurn("ended", "the turn ended");
      else yield* this.#endTurn("error", each.error);
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
      case "stopping":
        this.#stopped = true;
        return;
      case "unstartable":
        yield { type: "unstartable", error: entry.error };
        return;
      case "exited": {
        yield* this.#mean(this.#decoder.flush());
        this.#decoder = this.#newDecoder();
        if (entry.deliberate) return;
        const how = entry.signal ? `was ended by ${entry.signal}` : `exited with ${entry.code}`;
        const clean = this.#mode === "turn" && entry.code === 0;
        yield* clean
          ? this.#endTurn("ended", "the turn ended")
          : this.#endTurn("exited", `the agent ${how} in the middle of its turn`);
      }
    }
  }

  /** An agent may use one name for several questions; here each has a name of its own, the same whenever it is read. */
  #ownName(askId: string): string {
    const count = (this.#asks.get(askId) ?? 0) + 1;
    this.#asks.set(askId, count);
    return count === 1 ? askId : `${askId}${REPEAT}${count}`;
  }

  /** An end without an open turn is one too many and means nothing. */
  *#endTurn(kind: "ended" | "error" | "exited", detail: string): Generator<SessionSignal> {
    const turn = this.#turns.shift();
    if (turn === undefined) return;
    const ending = this.#interrupted.has(turn) ? interrupted(kind, detail) : { kind, detail };
    yield { type: "turnOver", turn, ending };
  }
}

/** However an agent ends a turn that it was asked to stop, we are the reason. */
const interrupted = (kind: Ending["kind"], detail: string): Ending => ({
  kind: "interrupted",
  detail: kind === "ended" ? "the turn was interrupted" : `the turn was interrupted: ${detail}`,
});
