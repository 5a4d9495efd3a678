// Messages on their way into the boxes. All that is sent while a write is going on is written by the next one, so that a
// process that sends much does not rewrite the file for every message.
import { readMailboxMessage } from "../protocol/mailbox/mailbox-message.ts";
import type { Problem } from "../protocol/profile.ts";
import { TuttiError } from "../schema/error.ts";
import { appendToBox } from "./box.ts";
import { addToLog, logLine } from "./development-log.ts";
import type { MailboxFolder } from "./folder.ts";
import type { FileProblem } from "./rewrite.ts";

export interface Sent {
  box: string;
  file: string;
  /** The message as it was written. */
  message: Record<string, unknown>;
  /** What is unusual about it, without being wrong. */
  warnings: Problem[];
  /** What was wrong with the file that it was added to. */
  problems: FileProblem[];
}

interface Waiting {
  message: Record<string, unknown>;
  resolve: (written: { file: string; problems: FileProblem[] }) => void;
  reject: (error: unknown) => void;
}

/** To whom the document sends what. Teams with other roles may do otherwise. */
const RECIPIENTS: Record<string, string> = { task_assignment: "developer", completion_report: "team-lead" };

export class Outbox {
  readonly #folder: MailboxFolder;
  readonly #waiting = new Map<string, Waiting[]>();

  constructor(folder: MailboxFolder) {
    this.#folder = folder;
  }

  async send(box: string, value: Record<string, unknown>): Promise<Sent> {
    const { message, warnings } = this.#check(box, value);
    const written = await new Promise<{ file: string; problems: FileProblem[] }>((resolve, reject) => {
      const queue = this.#waiting.get(box);
      const entry = { message, resolve, reject };
      if (queue) {
        queue.push(entry);
      } else {
        this.#waiting.set(box, [entry]);
        void this.#drain(box);
      }
    });
    return { box, message, warnings, ...written };
  }

  /** Only what document 001 allows is written. A message without a time gets the time of sending. */
  #check(box: string, value: Record<string, unknown>): { message: Record<string, unknown>; warnings: Problem[] } {
    const now = this.#folder.now();
    const stamped = "timestamp" in value ? value : { ...value, timestamp: now };
    const { message, problems } = readMailboxMessage(stamped, { profile: "strict", receivedAt: now });
    if (message !== null) return { message, warnings: [...problems, ...wrongBox(box, message.type)] };
    const errors = problems.filter(({ severity }) => severity === "error");
    throw new TuttiError(
      "invalid_input",
      `the message was not sent: ${errors.map(({ sentence }) => sentence).join(" ")}`,
      {
        details: errors,
      },
    );
  }

  async #drain(box: string): Promise<void> {
    for (let batch = this.#take(box); batch.length > 0; batch = this.#take(box)) {
      try {
        const written = await appendToBox(
          this.#folder,
          box,
          batch.map(({ message }) => message),
        );
        const unlogged = await this.#log(box, batch, written.problems);
        for (const { resolve } of batch) resolve({ ...written, problems: [...written.problems, ...unlogged] });
      } catch (error) {
        for (const { reject } of batch) reject(error);
      }
    }
  }

  /** What waits for the box. The empty list stays in the map while a write is going on, so that nobody starts another. */
  #take(box: string): Waiting[] {
    const batch = this.#waiting.get(box) ?? [];
    if (batch.length === 0) this.#waiting.delete(box);
    else this.#waiting.set(box, []);
    return batch;
  }

  /** A log that cannot be written is no reason to call a message unsent that stands in the box. */
  async #log(box: string, batch: readonly Waiting[], damaged: readonly FileProblem[]): Promise<FileProblem[]> {
    const warnings = damaged.map(
      ({ file, sentence, keptAs }) => `${file} was damaged and is kept as ${keptAs}. ${sentence}`,
    );
    const sent = batch.map(
      ({ message }) => `${String(message["type"])} for ${String(message["taskId"])} sent to ${box}`,
    );
    try {
      await addToLog(this.#folder, (at) => [
        ...warnings.map((text) => logLine(at, { level: "WARN", text })),
        ...sent.map((text) => logLine(at, { level: "INFO", text })),
      ]);
      return [];
    } catch (error) {
      return [
        { file: this.#folder.paths().log, sentence: `The log could not be written: ${(error as Error).message}` },
      ];
    }
  }
}

function wrongBox(box: string, type: string): Problem[] {
  const usual = RECIPIENTS[type];
  if (usual === undefined || usual === box) return [];
  const sentence = `A ${type} usually goes to ${usual}; this one went to ${box}.`;
  return [{ path: "type", severity: "warning", code: "mismatch", sentence }];
}
