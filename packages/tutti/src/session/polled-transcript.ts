// What a person reads of a session that a controller runs, page by page. Its journal may be long and is read again and
// again, so places in it are noted on the way, and nobody begins further back than at the last of them before his page.
import { journalFile, signalOf, type PolledRecord } from "./polled-journal.ts";
import { SessionFile } from "./session-file.ts";
import { toEntry, type Entry } from "./transcript-entry.ts";
import type { TranscriptEntry, TranscriptPage } from "../schema/transcript.ts";

/** So many entries lie between two places at least. */
const STEP = 100;
const NEWLINE = 0x0a;

/** A beginning of a line, and how many entries come before it. */
interface Place {
  n: number;
  offset: number;
}

export class PolledTranscript {
  readonly #journal: SessionFile;
  readonly #places: Place[] = [{ n: 0, offset: 0 }];

  constructor(folder: string) {
    this.#journal = new SessionFile(journalFile(folder));
  }

  page({ after, limit, characters: most = Number.POSITIVE_INFINITY }: TranscriptPage): TranscriptEntry[] {
    const entries: TranscriptEntry[] = [];
    if (limit < 1) return entries;
    const place = this.#places.findLast(({ n }) => n <= after)!;
    let n = place.n;
    let characters = 0;
    for (const { line, end } of this.#lines(place.offset)) {
      const entry = entryOf(line);
      if (entry === null) continue;
      n += 1;
      this.#note({ n, offset: end });
      if (n <= after) continue;
      entries.push({ ...entry, n });
      if (most !== Number.POSITIVE_INFINITY) characters += JSON.stringify(entry).length;
      if (entries.length >= limit || characters >= most) break;
    }
    return entries;
  }

  #note(place: Place): void {
    if (place.n >= this.#places.at(-1)!.n + STEP) this.#places.push(place);
  }

  /** Whole lines only: one that has no end is still being written, or never will be. */
  *#lines(from: number): Generator<{ line: string; end: number }> {
    let open: Buffer[] = [];
    let end = from;
    for (const chunk of this.#journal.read(from, Number.POSITIVE_INFINITY)) {
      let begin = 0;
      for (let at = chunk.indexOf(NEWLINE); at >= 0; at = chunk.indexOf(NEWLINE, begin)) {
        const bytes = Buffer.concat([...open, chunk.subarray(begin, at)]);
        open = [];
        begin = at + 1;
        end += bytes.length + 1;
        yield { line: bytes.toString("utf8"), end };
      }
      // What was read is overwritten by what is read next.
      if (begin < chunk.length) open.push(Buffer.from(chunk.subarray(begin)));
    }
  }
}

function entryOf(line: string): Entry | null {
  const record = parse(line);
  if (record?.type === "sending") return toEntry({ type: "sent", turn: record.turn }, () => record.text);
  const signal = record && signalOf(record);
  return signal && signal.type !== "sent" ? toEntry(signal, () => null) : null;
}

/** A power cut can leave a line in pieces; people may read what is left of the others. */
function parse(line: string): PolledRecord | null {
  try {
    return JSON.parse(line) as PolledRecord;
  } catch {
    return null;
  }
}
