// Up to which moment the due times of each schedule have been dealt with, in a file of the data folder. Only the server
// that holds the folder writes it.
import { readFileSync, renameSync, rmSync } from "node:fs";
import { dirname } from "node:path";
import { z } from "zod";
import { asDiskError, syncFolder, writeDurably } from "../durable-file.ts";
import { TuttiError } from "../schema/error.ts";

const Entry = z.strictObject({
  /** The rule that this is about; what was due under another one does not count. */
  rule: z.string(),
  /** Every due time up to this moment has been dealt with. */
  after: z.number(),
  lastDue: z.number().nullable(),
  lastSkipped: z.strictObject({ due: z.number(), at: z.number(), reason: z.string() }).nullable(),
});
export type ScheduleEntry = z.infer<typeof Entry>;

const Content = z.strictObject({ schedules: z.record(z.string(), Entry) });
const OWNER_ONLY = 0o600;

export class ScheduleFile {
  readonly #file: string;
  readonly #entries: Map<string, ScheduleEntry>;

  constructor(file: string) {
    this.#file = file;
    this.#entries = new Map(Object.entries(read(file)));
  }

  get(name: string): ScheduleEntry | undefined {
    return this.#entries.get(name);
  }

  /** On disk when it returns. */
  set(name: string, entry: ScheduleEntry): void {
    this.#write(new Map(this.#entries).set(name, entry));
  }

  /** Forgets schedules that are no longer there. */
  keepOnly(names: ReadonlySet<string>): void {
    const kept = new Map([...this.#entries].filter(([name]) => names.has(name)));
    if (kept.size < this.#entries.size) this.#write(kept);
  }

  #write(entries: ReadonlyMap<string, ScheduleEntry>): void {
    const beside = `${this.#file}.new`;
    try {
      // One that a writer left who died in the middle.
      rmSync(beside, { force: true });
      const content = { schedules: Object.fromEntries(entries) };
      writeDurably(beside, `${JSON.stringify(content, null, 2)}\n`, OWNER_ONLY);
      renameSync(beside, this.#file);
      syncFolder(dirname(this.#file));
    } catch (error) {
      throw asDiskError(error, `${this.#file} cannot be written`);
    }
    this.#entries.clear();
    for (const [name, entry] of entries) this.#entries.set(name, entry);
  }
}

function read(file: string): Record<string, ScheduleEntry> {
  try {
    return Content.parse(JSON.parse(readFileSync(file, "utf8"))).schedules;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return {};
    const message = `${file}, which says what schedules have done, cannot be read; correct it or remove it`;
    throw new TuttiError("storage_failed", message, { cause: error });
  }
}
