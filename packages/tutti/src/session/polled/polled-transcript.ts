// `PolledTranscript` pages through the journal of a polled session, which may be long and is read repeatedly. So
// `#places` remembers positions, and a page starts at the nearest one before it.
import { journalFile, signalOf, type PolledRecord } from "./polled-journal.ts";
import { parseLine, SessionFile } from "../keeper/session-file.ts";
import { runInSlices } from "../time-slice.ts";
import { toEntry, type Entry } from "../transcript/transcript-entry.ts";
import type { TranscriptEntry, TranscriptPage } from "../../schema/transcript.ts";

/** `STEP` is the least number of entries between two places. */
const STEP = 100;

/** A `Place` is the start of a line, and the number of entries before it. */
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

  page(page: TranscriptPage): Promise<TranscriptEntry[]> {
    return runInSlices(this.#readPage(page));
  }

  *#readPage(page: TranscriptPage): Generator<null, TranscriptEntry[]> {
    const { after, limit, characters: most = Number.POSITIVE_INFINITY } = page;
    const entries: TranscriptEntry[] = [];
    if (limit < 1) return entries;
    const place = this.#places.findLast(({ n }) => n <= after)!;
    let n = place.n;
    let characters = 0;
    for (const { line, end } of this.#journal.lines(place.offset)) {
      yield null;
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
}

function entryOf(line: string): Entry | null {
  const record = parseLine<PolledRecord>(line);
  if (record?.type === "sending") return toEntry({ type: "sent", turn: record.turn }, () => record.text);
  const signal = record && signalOf(record);
  return signal && signal.type !== "sent" ? toEntry(signal, () => null) : null;
}
