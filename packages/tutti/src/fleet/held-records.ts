// `HeldRecords` is the file of the attempts that a host holds, from which a restarted host adopts them.
//
// Each change appends a line. With a file per attempt, a host that ended many attempts created the next file ever more
// slowly, up to 0.6 ms: ext4 searches past the inodes of all files that were deleted in the last seconds.
//
// Not synced to disk: no session survives a power failure, so there is nothing to adopt after one. A host that is killed
// while it appends leaves a part of a line, and gives that attempt up when it joins.
import { appendFileSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import type { TakenAttempt } from "./host-link.ts";
import { replaceDurably, tryToWrite } from "../durable-file.ts";

type HeldLine = TakenAttempt | { over: string };

const MODE = 0o600;
/** The file is written anew when it has this many lines more than attempts. */
const MAX_SURPLUS = 1000;

export class HeldRecords {
  readonly #file: string;
  readonly #held = new Map<string, TakenAttempt>();
  #lines: number;

  constructor(folder: string) {
    this.#file = join(folder, "held.jsonl");
    const earlier = join(folder, "held");
    const filed = readFiles(earlier);
    const lines = [...(filed ?? []), ...readLines(this.#file)];
    for (const line of lines) {
      if ("over" in line) this.#held.delete(line.over);
      else this.#held.set(line.key, line);
    }
    this.#lines = lines.length;
    if (filed === null) return;
    this.#rewrite();
    rmSync(earlier, { recursive: true });
  }

  get attempts(): TakenAttempt[] {
    return [...this.#held.values()];
  }

  add(taken: readonly TakenAttempt[]): void {
    for (const each of taken) this.#held.set(each.key, each);
    this.#append(taken);
  }

  remove(key: string): void {
    // A full disk does no harm: a host does not adopt an attempt that the database no longer lists.
    if (this.#held.delete(key)) tryToWrite(() => this.#append([{ over: key }]));
  }

  #append(lines: readonly HeldLine[]): void {
    // The line break comes first, so that a line that was cut off spoils no other one.
    appendFileSync(this.#file, lines.map((line) => `\n${JSON.stringify(line)}`).join(""), { mode: MODE });
    this.#lines += lines.length;
    if (this.#lines > this.#held.size + MAX_SURPLUS) this.#rewrite();
  }

  #rewrite(): void {
    replaceDurably(this.#file, this.attempts.map((each) => JSON.stringify(each)).join("\n"), MODE);
    this.#lines = this.#held.size;
  }
}

function readLines(file: string): HeldLine[] {
  const text = tryToRead(() => readFileSync(file, "utf8")) ?? "";
  return text.split("\n").flatMap((line) => parseLine(line) ?? []);
}

/** Earlier versions kept a file per attempt in `folder`. Returns null without it. */
function readFiles(folder: string): HeldLine[] | null {
  const names = tryToRead(() => readdirSync(folder));
  return names?.flatMap((name) => parseLine(readFileSync(join(folder, name), "utf8")) ?? []) ?? null;
}

function tryToRead<T>(read: () => T): T | null {
  try {
    return read();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return null;
    throw error;
  }
}

function parseLine(line: string): HeldLine | null {
  try {
    return JSON.parse(line) as HeldLine;
  } catch {
    return null;
  }
}
