// `Mailbox` is the mailbox of document 001, through which Tutti and agents that only use files exchange messages.
//
// Messages are validated strictly before they are written. Messages of other programs are read leniently, and every
// deviation is reported. A message is on disk when `send` resolves.
import { readConfigFile, readQueueFile, readStatusFile } from "../protocol/mailbox/mailbox-file.ts";
import type { ConfigFile, QueueFile, StatusFile } from "../protocol/mailbox/mailbox-file.ts";
import { readMailboxMessage, type MailboxMessage } from "../protocol/mailbox/mailbox-message.ts";
import type { ProfileProblem } from "../protocol/response/profile.ts";
import { readArchive, type Clearing } from "./archive.ts";
import { clearBox, isPresent, lookAtBox, stampLastRead, type BoxEntry } from "./box.ts";
import { addToLog, logLine, taskSection, type LogEntry, type TaskSection } from "./development-log.ts";
import { MailboxFolder, type MailboxOptions } from "./folder.ts";
import { initMailbox, type InitReport } from "./init.ts";
import { boxName, consumerName } from "./layout.ts";
import { acquireLock } from "./lock.ts";
import { Outbox, type Sent } from "./outbox.ts";
import { addMarks, readMarks } from "./read-marks.ts";
import type { FileProblem } from "./rewrite.ts";
import { StateFile } from "./state-file.ts";
import { readerLock, watchBox, type WatchedEntry, type WatchOptions } from "./watch-box.ts";

interface ReceivedMessage extends BoxEntry {
  /** Null if the message has an error. */
  message: MailboxMessage | null;
  problems: ProfileProblem[];
  /** When this reader received the message before; null if it is new. */
  readAt: string | null;
}

interface BoxReading {
  box: string;
  lastRead: string | null;
  messages: ReceivedMessage[];
  problems: FileProblem[];
}

interface ReadBoxOptions {
  /** The name of the reader; each reader has its own read marks. Defaults to the name of the box. */
  consumer?: string;
  /** Only messages about this task. */
  taskId?: string;
}

/** How long `read` waits for another process that reads under the same name (`READER_PATIENCE_MS`). */
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

  /** Never overwrites. Throws instead of creating a second layout. */
  async init(): Promise<InitReport> {
    return initMailbox(this.folder);
  }

  /** Rejects a message that document 001 does not allow. Resolves when it is on disk. */
  async send(to: string, message: Record<string, unknown>): Promise<Sent> {
    return this.#outbox.send(boxName(to), message);
  }

  /** `readAt` of a message is null if it is new to the reader. Changes nothing and needs no lock. */
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

  /** Unlike `peek`, marks the returned messages as read. */
  async read(box: string, options: ReadBoxOptions = {}): Promise<BoxReading> {
    const name = boxName(box);
    const consumer = readerOf(name, options);
    // Reading must not create files in a project without this box (`isPresent`).
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

  /** Moves the messages of a box, or those that `isCleared` selects, to the archive. */
  async clear(
    box: string,
    isCleared?: (message: unknown) => boolean,
  ): Promise<{ cleared: number; archive: string; problems: FileProblem[] }> {
    const name = boxName(box);
    const result = await clearBox(this.folder, name, isCleared);
    await this.log([{ level: "INFO", text: `${result.cleared} message(s) to ${name} archived and cleared` }]);
    return result;
  }

  /** Oldest clearing first. */
  archived(box: string): Clearing[] {
    return readArchive(this.folder.archiveFile(boxName(box)));
  }

  /** Yields each message of a box once per reader as it arrives, until `signal` aborts. */
  async *watch(
    box: string,
    options: Omit<WatchOptions, "consumer"> & { consumer?: string },
  ): AsyncGenerator<ReceivedMessage & WatchedEntry> {
    const name = boxName(box);
    const consumer = readerOf(name, options);
    for await (const entry of watchBox(this.folder, name, { ...options, consumer }))
      yield { ...entry, ...this.#receive(entry, null) };
  }

  async log(entries: readonly LogEntry[]): Promise<void> {
    await addToLog(this.folder, (at) => entries.map((entry) => logLine(at, entry)));
  }

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
