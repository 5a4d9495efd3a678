// The mailbox of document 001: agents that know only files write to each other through it, and so does Tutti.
//
// What we write is checked strictly before it is written; what others wrote is read leniently, with every deviation
// named. A message that `send` has returned for is on the disk.
import { readConfigFile, readQueueFile, readStatusFile } from "../protocol/mailbox/mailbox-file.ts";
import type { ConfigFile, QueueFile, StatusFile } from "../protocol/mailbox/mailbox-file.ts";
import { readMailboxMessage } from "../protocol/mailbox/mailbox-message.ts";
import type { MailboxMessage } from "../protocol/mailbox/mailbox-message.ts";
import type { Problem } from "../protocol/profile.ts";
import { readArchive } from "./archive.ts";
import type { Clearing } from "./archive.ts";
import { clearBox, isPresent, lookAtBox, stampLastRead } from "./box.ts";
import type { BoxEntry } from "./box.ts";
import { addToLog, logLine, taskSection } from "./development-log.ts";
import type { LogEntry, TaskSection } from "./development-log.ts";
import { MailboxFolder } from "./folder.ts";
import type { MailboxOptions } from "./folder.ts";
import { initMailbox } from "./init.ts";
import type { InitReport } from "./init.ts";
import { boxName, consumerName } from "./layout.ts";
import { acquireLock } from "./lock.ts";
import { Outbox } from "./outbox.ts";
import type { Sent } from "./outbox.ts";
import { addMarks, readMarks } from "./read-marks.ts";
import type { FileProblem } from "./rewrite.ts";
import { StateFile } from "./state-file.ts";
import { readerLock, watchBox } from "./watch-box.ts";
import type { WatchedEntry, WatchOptions } from "./watch-box.ts";

export interface ReceivedMessage extends BoxEntry {
  /** What the message says; null if it cannot be used. */
  message: MailboxMessage | null;
  problems: Problem[];
  /** When this reader had it before; null if it is new to it. */
  readAt: string | null;
}

export interface BoxReading {
  box: string;
  lastRead: string | null;
  messages: ReceivedMessage[];
  problems: FileProblem[];
}

export interface ReadBoxOptions {
  /** Who reads; each reader has marks of its own. By default the one whom the box is for. */
  consumer?: string;
  /** Only what is about this task. */
  taskId?: string;
}

/** How long a reader waits for another process that reads under the same name. */
const READER_PATIENCE_MS = 10_000;

export class Mailbox {
  readonly queue: StateFile<QueueFile>;
  readonly status: StateFile<StatusFile>;
  readonly config: StateFile<ConfigFile>;
  readonly folder: MailboxFolder;
  readonly #outbox: Outbox;

  constructor(options: MailboxOptions) {
    this.folder = new MailboxFolder(options);
    this.#outbox = new Outbox(this.folder);
    this.queue = new StateFile(this.folder, "queue", readQueueFile);
    this.status = new StateFile(this.folder, "status", readStatusFile);
    this.config = new StateFile(this.folder, "config", readConfigFile);
  }

  /** Makes the folders and files that are not there yet; never overwrites. Refuses to make a second layout. */
  async init(): Promise<InitReport> {
    return initMailbox(this.folder);
  }

  /** Checks a message, adds it to a box, and returns when it is on the disk. */
  async send(to: string, message: Record<string, unknown>): Promise<Sent> {
    return this.#outbox.send(boxName(to), message);
  }

  /** Everything in a box, and which of it is new to the reader. Changes nothing and needs no lock. */
  async peek(box: string, options: ReadBoxOptions = {}): Promise<BoxReading> {
    const name = boxName(box);
    const look = await lookAtBox(this.folder, name);
    const marks = readMarks(this.folder.marksFolder(name), readerOf(name, options));
    const messages = look.entries.map((entry) => this.#receive(entry, marks.get(entry.key) ?? null));
    const { taskId } = options;
    return {
      box: name,
      lastRead: look.lastRead,
      messages: taskId === undefined ? messages : messages.filter(({ message }) => message?.taskId === taskId),
      problems: look.problems,
    };
  }

  /** The same, and marks what it returns as read. */
  async read(box: string, options: ReadBoxOptions = {}): Promise<BoxReading> {
    const name = boxName(box);
    const consumer = readerOf(name, options);
    // A project without this box gets no files just because somebody looked.
    if (!isPresent(this.folder, name)) return this.peek(name, options);
    const lock = this.folder.lockFile(readerLock(name, consumer));
    const release = await acquireLock(lock, this.folder.world, READER_PATIENCE_MS);
    try {
      const readAt = this.folder.now();
      const reading = await this.peek(name, options);
      const fresh = reading.messages.filter((each) => each.readAt === null).map(({ key }) => key);
      addMarks(this.folder.marksFolder(name), consumer, fresh, readAt);
      await stampLastRead(this.folder, name, readAt);
      return reading;
    } finally {
      release?.();
    }
  }

  /** Archives what a box holds and empties it. */
  async clear(box: string): Promise<{ cleared: number; archive: string; problems: FileProblem[] }> {
    const name = boxName(box);
    const result = await clearBox(this.folder, name);
    await this.log([{ level: "INFO", text: `${result.cleared} message(s) to ${name} archived and cleared` }]);
    return result;
  }

  /** What was cleared from a box, oldest first. */
  archived(box: string): Clearing[] {
    return readArchive(this.folder.archiveFile(boxName(box)));
  }

  /** Each message of a box once for the reader, as it arrives, until the signal fires. */
  async *watch(
    box: string,
    options: Omit<WatchOptions, "consumer"> & { consumer?: string },
  ): AsyncGenerator<ReceivedMessage & WatchedEntry> {
    const name = boxName(box);
    const consumer = readerOf(name, options);
    for await (const entry of watchBox(this.folder, name, { ...options, consumer }))
      yield { ...entry, ...this.#receive(entry, null) };
  }

  /** Adds lines to the development log. */
  async log(entries: readonly LogEntry[]): Promise<void> {
    await addToLog(this.folder, (at) => entries.map((entry) => logLine(at, entry)));
  }

  /** Adds the section of a finished task to the development log. */
  async logTask(task: TaskSection): Promise<void> {
    await addToLog(this.folder, (at) => taskSection(at, task));
  }

  #receive(entry: BoxEntry, readAt: string | null): ReceivedMessage {
    const options = { profile: "lenient", receivedAt: this.folder.now() } as const;
    return { ...entry, ...readMailboxMessage(entry.value, options), readAt };
  }
}

function readerOf(box: string, { consumer }: { consumer?: string }): string {
  return consumer === undefined ? box : consumerName(consumer);
}
