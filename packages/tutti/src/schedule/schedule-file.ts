// A `ScheduleFile` stores, per schedule, the moment up to which its due times are settled. Only the server that holds
// the lock of the data folder writes it.
import { readFileSync } from "node:fs";
import { z } from "zod";
import { asDiskError, replaceDurably } from "../durable-file.ts";
import { TuttiError } from "../schema/error.ts";

const Entry = z.strictObject({
  /** After a change of `rule`, earlier due times do not count. */
  rule: z.string(),
  /** Every due time up to `after` is settled. */
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

  /** Returns after `entry` is on disk. */
  set(name: string, entry: ScheduleEntry): void {
    this.#write(new Map(this.#entries).set(name, entry));
  }

  keepOnly(names: ReadonlySet<string>): void {
    const remaining = new Map([...this.#entries].filter(([name]) => names.has(name)));
    if (remaining.size < this.#entries.size) this.#write(remaining);
  }

  #write(entries: ReadonlyMap<string, ScheduleEntry>): void {
    const content = { schedules: Object.fromEntries(entries) };
    try {
      replaceDurably(this.#file, `${JSON.stringify(content, null, 2)}\n`, OWNER_ONLY);
    } catch (error) {
      throw asDiskError(error, `Cannot write ${this.#file}`);
    }
    this.#entries.clear();
    for (const [name, entry] of entries) this.#entries.set(name, entry);
  }
}

function read(file: string): Record<string, ScheduleEntry> {
  try {
    // Read first: most users have no file, and then no schema has to be built.
    const text = readFileSync(file, "utf8");
    return Content.parse(JSON.parse(text)).schedules;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return {};
    const message = `The schedule state file ${file} cannot be read. Correct it or remove it.`;
    throw new TuttiError("storage_failed", message, { cause: error });
  }
}
