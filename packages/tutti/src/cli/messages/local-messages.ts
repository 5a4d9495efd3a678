// Protocols and mailbox for the commands on message files, which need neither a server nor an engine.
import { existsSync } from "node:fs";
import { resolve } from "node:path";
import { Mailbox, realWorld, ResponseParser } from "../../main/messages.ts";
import type { MailboxLayout } from "../../main/messages.ts";
import { TuttiError } from "../../schema/error.ts";

export {
  detectProtocol,
  readConfigFile,
  readMessage,
  readMessageFile,
  readQueueFile,
  readStatusFile,
  readTolerantly,
  translate,
} from "../../main/messages.ts";
export type { Mailbox, MailboxLayout, ProfileOptions, ProfileProblem, Protocol } from "../../main/messages.ts";

/** Finds blocks with the default delimiters of document 000. */
export const answerParser = new ResponseParser();

export function openMailbox(dir: string | undefined, layout?: MailboxLayout): Mailbox {
  const project = resolve(dir ?? ".");
  if (!existsSync(project))
    throw new TuttiError(
      "folder_not_found",
      `Folder "${project}" does not exist. Name an existing project with --dir.`,
    );
  return new Mailbox({ project, world: realWorld, ...(layout === undefined ? {} : { layout }) });
}

export const timeNow = (): string => new Date(realWorld.now()).toISOString();
