// `Transcript` pages through a session: prompts and answers in order, numbered from 1. A transcript may be too long to
// hold in memory or to read from its start for every page. So the next page continues where the last one stopped, and
// any other page starts at the nearest of the `#marks`.
import { dirname } from "node:path";
import { findDriver, newDecoder } from "../agents.ts";
import type { Secrets } from "../secrets/find-secrets.ts";
import { SessionReader, type ReadPoint } from "../keeper/read-session.ts";
import { paths, readJson, readRequest, turnName, type KeeperSpec } from "../keeper/session-folder.ts";
import type { SessionSignal } from "../session.ts";
import { newText, shownText, toEntry, type Entry } from "./transcript-entry.ts";
import type { HeadAndTail } from "../lines/head-and-tail.ts";
import { runInSlices } from "../time-slice.ts";
import type { TranscriptEntry, TranscriptPage } from "../../schema/transcript.ts";

const MAX_TRANSCRIPTS = 64;

/** An LRU cache of MAX_TRANSCRIPTS transcripts by session folder. */
export class Transcripts<T> {
  readonly #open: (folder: string) => T;
  readonly #cache = new Map<string, T>();

  constructor(open: (folder: string) => T) {
    this.#open = open;
  }

  of(folder: string): T {
    const transcript = this.#cache.get(folder) ?? this.#open(folder);
    // A `Map` keeps insertion order, so the most recently used entry must be last.
    this.#cache.delete(folder);
    this.#cache.set(folder, transcript);
    if (this.#cache.size > MAX_TRANSCRIPTS) this.#cache.delete(this.#cache.keys().next().value!);
    return transcript;
  }

  /** Drops the transcripts of the folders below `parent`. */
  forget(parent: string): void {
    for (const folder of this.#cache.keys()) if (dirname(folder) === parent) this.#cache.delete(folder);
  }
}

/** Per session. Beyond `MAX_MARKS`, every other mark is dropped. */
const MAX_MARKS = 512;

/** A `Mark` is a point between two entries, and the number of entries before it. */
interface Mark {
  n: number;
  point: ReadPoint;
}

export class Transcript {
  readonly #folder: string;
  readonly #secrets: Secrets;
  #marks: Mark[] = [];
  /** The walk that has read furthest. */
  #walk: Walk | null = null;
  #lastPage: Promise<unknown> = Promise.resolve();

  constructor(folder: string, secrets: Secrets) {
    this.#folder = folder;
    this.#secrets = secrets;
  }

  /** Pages are read one after the other, because they share `#walk`. */
  page(page: TranscriptPage): Promise<TranscriptEntry[]> {
    const read = () => runInSlices(this.#readPage(page));
    const entries = this.#lastPage.then(read, read);
    this.#lastPage = entries;
    return entries;
  }

  *#readPage(page: TranscriptPage): Generator<null, TranscriptEntry[]> {
    const walk = this.#walkTo(page.after);
    if (walk === null || page.limit < 1) return [];
    const entries: TranscriptEntry[] = [];
    let characters = 0;
    for (const entry of walk.from(page.after)) {
      yield null;
      if (entry === null) continue;
      entries.push(entry);
      if (page.characters !== undefined) characters += JSON.stringify(entry).length;
      if (entries.length >= page.limit || characters >= (page.characters ?? Number.POSITIVE_INFINITY)) break;
    }
    if (this.#walk === null || walk.n >= this.#walk.n) this.#walk = walk;
    return entries;
  }

  /** Returns a walk that has not passed entry `after + 1`; null for an unknown session. */
  #walkTo(after: number): Walk | null {
    if (this.#walk && after + 1 >= this.#walk.n) return this.#walk;
    const spec = readJson<KeeperSpec>(paths(this.#folder).spec);
    if (spec === null) return null;
    const mark = this.#marks.findLast(({ n }) => n <= after);
    return new Walk(this.#folder, spec, this.#secrets, mark ?? null, (newMark) => this.#addMark(newMark));
  }

  #addMark(mark: Mark): void {
    const last = this.#marks.at(-1);
    if (last && (mark.n < last.n || mark.point.output <= last.point.output)) return;
    // Output without entries takes time to read too, so prefer the later mark of the same entry.
    if (last?.n === mark.n) this.#marks.pop();
    this.#marks.push(mark);
    if (this.#marks.length > MAX_MARKS) this.#marks = this.#marks.filter((_, index) => index % 2 === 1);
  }
}

class Walk {
  readonly #folder: string;
  readonly #reader: SessionReader;
  readonly #onPoint: (mark: Mark) => void;
  /** Kept between two pages, so that nothing is decoded twice. */
  #signals: Generator<SessionSignal | null> | null = null;
  #point: ReadPoint;
  /** May still change while `#isOpen`. */
  #newest: Entry | null = null;
  /** The text of `#newest`, null if it is of another type. */
  #text: HeadAndTail | null = null;
  /** Whether `#newest` is a text with a next piece that is still to come. */
  #isOpen = false;
  /** The number of `#newest`, 0 before the first entry. */
  n: number;

  constructor(folder: string, spec: KeeperSpec, secrets: Secrets, mark: Mark | null, onPoint: (mark: Mark) => void) {
    const { driver } = findDriver(spec.agent);
    this.#folder = folder;
    this.#onPoint = onPoint;
    this.n = mark?.n ?? 0;
    const from = mark ? { from: mark.point } : {};
    this.#reader = new SessionReader(folder, spec.mode, () => newDecoder(driver), { secrets, ...from });
    this.#point = this.#reader.point;
  }

  /**
   * Yields the entries after `after`: each when it can no longer change, the newest when all output is read. Yields
   * null after a step without an entry.
   */
  *from(after: number): Generator<TranscriptEntry | null> {
    for (;;) {
      this.#signals ??= this.#reader.read();
      const { value: signal, done } = this.#signals.next();
      this.#passPoint();
      if (done) break;
      const finished = signal && this.#add(signal);
      yield finished && finished.n > after ? finished : null;
    }
    this.#signals = null;
    const newest = this.#shown();
    if (newest && newest.n > after) yield newest;
  }

  #passPoint(): void {
    if (this.#point === this.#reader.point) return;
    this.#point = this.#reader.point;
    if (!this.#isOpen) this.#onPoint({ n: this.n, point: this.#point });
  }

  /** Returns the previous entry if `signal` begins the next one. */
  #add(signal: SessionSignal): TranscriptEntry | null {
    if (signal.type === "text") {
      const wasOpen = this.#isOpen;
      this.#isOpen = !signal.complete;
      if (wasOpen && this.#text) {
        this.#text.push(signal.text);
        return null;
      }
    }
    const entry = toEntry(signal, (turn) => this.#promptOf(turn));
    if (entry === null) return null;
    const previous = this.#shown();
    const { at } = this.#reader;
    this.#newest = at === undefined ? entry : { ...entry, at };
    this.#text = signal.type === "text" ? newText(signal.text) : null;
    this.n += 1;
    return previous;
  }

  #shown(): TranscriptEntry | null {
    return this.#newest && { ...this.#newest, ...(this.#text && shownText(this.#text)), n: this.n };
  }

  #promptOf(turn: number): string | null {
    const request = readRequest(this.#folder, turnName(turn));
    return request?.type === "turn" ? request.text : null;
  }
}
