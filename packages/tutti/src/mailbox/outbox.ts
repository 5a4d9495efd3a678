// `Outbox` batches messages to the boxes. Messages sent during a write are written together by the next one, so a busy
// sender does not rewrite the file for every message.
import { readMailboxMessage } from "../protocol/mailbox/mailbox-message.ts";
import type { ProfileProblem } from "../protocol/response/profile.ts";
import { TuttiError } from "../schema/error.ts";
import { appendToBox } from "./box.ts";
import { addToLog, logLine } from "./development-log.ts";
import type { MailboxFolder } from "./folder.ts";
import type { FileProblem } from "./rewrite.ts";

export interface Sent {
  box: string;
  file: string;
  /** The message as written, with its `timestamp`. */
  message: Record<string, unknown>;
  warnings: ProfileProblem[];
  /** Problems of the file that the message was appended to. */
  problems: FileProblem[];
}

interface PendingMessage {
  message: Record<string, unknown>;
  resolve: (written: { file: string; problems: FileProblem[] }) => void;
  reject: (error: unknown) => void;
}

/** `RECIPIENTS` of the document. Teams with other roles may differ, so another box is only a warning. */
const RECIPIENTS: Record<string, string> = { task_assignment: "developer", completion_report: "team-lead" };

export class Outbox {
  readonly #folder: MailboxFolder;
  readonly #pending = new Map<string, PendingMessage[]>();

  constructor(folder: MailboxFolder) {
    this.#folder = folder;
  }

  async send(box: string, value: Record<string, unknown>): Promise<Sent> {
    const { message, warnings } = this.#check(box, value);
    const written = await new Promise<{ file: string; problems: FileProblem[] }>((resolve, reject) => {
      const queue = this.#pending.get(box);
      const entry = { message, resolve, reject };
      if (queue) {
        queue.push(entry);
      } else {
        this.#pending.set(box, [entry]);
        void this.#drain(box);
      }
    });
    return { box, message, warnings, ...written };
  }

  /** Throws for a message that document 001 does not allow. One without a `timestamp` gets the current time. */
  #check(
    box: string,
    value: Record<string, unknown>,
  ): { message: Record<string, unknown>; warnings: ProfileProblem[] } {
    const now = this.#folder.now();
    const stamped = "timestamp" in value ? value : { ...value, timestamp: now };
    const { message, problems } = readMailboxMessage(stamped, { profile: "strict", receivedAt: now });
    if (message !== null) return { message, warnings: [...problems, ...wrongBox(box, message.type)] };
    const errors = problems.filter(({ severity }) => severity === "error");
    throw new TuttiError(
      "invalid_input",
      `The message was not sent. Correct these problems: ${errors.map(({ sentence }) => sentence).join(" ")}`,
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

  /** During a write an empty list stays in `#pending`, so that `send` starts no second one. */
  #take(box: string): PendingMessage[] {
    const batch = this.#pending.get(box) ?? [];
    if (batch.length === 0) this.#pending.delete(box);
    else this.#pending.set(box, []);
    return batch;
  }

  /** If `addToLog` fails, the message counts as sent: it is already in the box. */
  async #log(box: string, batch: readonly PendingMessage[], damaged: readonly FileProblem[]): Promise<FileProblem[]> {
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

function wrongBox(box: string, type: string): ProfileProblem[] {
  const usual = RECIPIENTS[type];
  if (usual === undefined || usual === box) return [];
  const sentence = `A ${type} usually goes to ${usual}; this one went to ${box}.`;
  return [{ path: "type", severity: "warning", code: "mismatch", sentence }];
}
