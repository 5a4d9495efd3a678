// The transcript of a session: prompts and answers in their order, numbered from 1. It may be far too long to be held in
// memory or to be read from its beginning again and again. So whoever reads on goes on where the last reader stopped, and
// whoever begins anywhere else begins at the nearest of the points that were noted on the way.
import { dirname } from "node:path";
import { findDriver } from "./agents.ts";
import type { Secrets } from "./find-secrets.ts";
import { SessionReader, type ReadPoint } from "./read-session.ts";
import { paths, readJson, readRequest, turnName, type KeeperSpec } from "./session-folder.ts";
import type { SessionSignal } from "./session.ts";
import { extend, toEntry, type Entry } from "./transcript-entry.ts";
import type { TranscriptEntry, TranscriptPage } from "../schema/transcript.ts";

/** Sessions whose place is remembered. */
const MAX_TRANSCRIPTS = 64;

/** The transcripts that were looked at last. */
export class Transcripts<T> {
  readonly #open: (folder: string) => T;
  readonly #known = new Map<string, T>();

  constructor(open: (folder: string) => T) {
    this.#open = open;
  }

  of(folder: string): T {
    const transcript = this.#known.get(folder) ?? this.#open(folder);
    // What was used last stands last.
    this.#known.delete(folder);
    this.#known.set(folder, transcript);
    if (this.#known.size > MAX_TRANSCRIPTS) this.#known.delete(this.#known.keys().next().value!);
    return transcript;
  }

  /** The folders below this one are gone. */
  forget(parent: string): void {
    for (const folder of this.#known.keys()) if (dirname(folder) === parent) this.#known.delete(folder);
  }
}

/** Points that are kept of one session. When there are more, every other one is dropped. */
const MAX_POINTS = 512;

/** A point between two entries, and how many come before it. */
interface Mark {
  n: number;
  point: ReadPoint;
}

export class Transcript {
  readonly #folder: string;
  readonly #secrets: Secrets;
  #marks: Mark[] = [];
  /** The walk that came furthest. */
  #walk: Walk | null = null;

  constructor(folder: string, secrets: Secrets) {
    this.#folder = folder;
    this.#secrets = secrets;
  }

  page(page: TranscriptPage): TranscriptEntry[] {
    const walk = this.#walkTo(page.after);
    if (walk === null || page.limit < 1) return [];
    const entries: TranscriptEntry[] = [];
    let characters = 0;
    for (const entry of walk.from(page.after)) {
      entries.push(entry);
      if (page.characters !== undefined) characters += JSON.stringify(entry).length;
      if (entries.length >= page.limit || characters >= (page.characters ?? Number.POSITIVE_INFINITY)) break;
    }
    if (this.#walk === null || walk.n >= this.#walk.n) this.#walk = walk;
    return entries;
  }

  /** A walk that has not passed the entry that comes next. */
  #walkTo(after: number): Walk | null {
    if (this.#walk && after + 1 >= this.#walk.n) return this.#walk;
    const spec = readJson<KeeperSpec>(paths(this.#folder).spec);
    if (spec === null) return null;
    const mark = this.#marks.findLast(({ n }) => n <= after);
    return new Walk(this.#folder, spec, this.#secrets, mark ?? null, (passed) => this.#note(passed));
  }

  #note(mark: Mark): void {
    const last = this.#marks.at(-1);
    if (last && (mark.n < last.n || mark.point.output <= last.point.output)) return;
    // What is no entry takes time to read as well.
    if (last?.n === mark.n) this.#marks.pop();
    this.#marks.push(mark);
    if (this.#marks.length > MAX_POINTS) this.#marks = this.#marks.filter((_, index) => index % 2 === 1);
  }
}

/** Goes through a transcript once, entry by entry. */
class Walk {
  readonly #folder: string;
  readonly #reader: SessionReader;
  readonly #onPoint: (mark: Mark) => void;
  /** Left where it is between two pages: what has been decoded is not decoded again. */
  #signals: Generator<SessionSignal> | null = null;
  #point: ReadPoint;
  /** The newest entry; it may still grow. */
  #newest: Entry | null = null;
  /** Whether it is a text that goes on with the next piece. */
  #open = false;
  /** The number of the newest entry, 0 before the first. */
  n: number;

  constructor(folder: string, spec: KeeperSpec, secrets: Secrets, mark: Mark | null, onPoint: (mark: Mark) => void) {
    const { driver } = findDriver(spec.agent);
    this.#folder = folder;
    this.#onPoint = onPoint;
    this.n = mark?.n ?? 0;
    const from = mark ? { from: mark.point } : {};
    this.#reader = new SessionReader(folder, spec.mode, () => driver.decoder(), { secrets, ...from });
    this.#point = this.#reader.point;
  }

  /** The entries after that one. Each is told when it can no longer change, the newest when there is no more for now. */
  *from(after: number): Generator<TranscriptEntry> {
    for (;;) {
      const told = this.n;
      const done = this.#newest;
      if (!this.#next()) break;
      if (done && this.n > told && told > after) yield { ...done, n: told };
    }
    if (this.#newest && this.n > after) yield { ...this.#newest, n: this.n };
  }

  /** Takes in one more signal; false if there is none now. */
  #next(): boolean {
    this.#signals ??= this.#reader.read();
    const { value: signal, done } = this.#signals.next();
    this.#passPoint();
    if (done) this.#signals = null;
    else this.#take(signal);
    return !done;
  }

  #passPoint(): void {
    if (this.#point === this.#reader.point) return;
    this.#point = this.#reader.point;
    if (!this.#open) this.#onPoint({ n: this.n, point: this.#point });
  }

  #take(signal: SessionSignal): void {
    if (signal.type === "text") {
      const isOpen = this.#open;
      this.#open = !signal.complete;
      if (isOpen && this.#newest?.type === "text") return extend(this.#newest, signal.text);
    }
    const entry = toEntry(signal, (turn) => this.#promptOf(turn));
    if (entry === null) return;
    this.#newest = entry;
    this.n += 1;
  }

  #promptOf(turn: number): string | null {
    const request = readRequest(this.#folder, turnName(turn));
    return request?.type === "turn" ? request.text : null;
  }
}
