// The way of the commands that work on files of messages: they need neither a server nor an engine.
import { existsSync } from "node:fs";
import { resolve } from "node:path";
import { Mailbox, realWorld, ResponseParser } from "../main/messages.ts";
import type { Layout } from "../main/messages.ts";
import { TuttiError } from "../schema/error.ts";

export {
  detectProtocol,
  readConfigFile,
  readMessage,
  readMessageFile,
  readQueueFile,
  readStatusFile,
  readTolerantly,
  translate,
} from "../main/messages.ts";
export type { Layout, Mailbox, Problem, Protocol, ReadOptions } from "../main/messages.ts";

/** The blocks of an agent's answer, with the delimiters of document 000. */
export const answerParser = new ResponseParser();

/** The mailbox of a project that is there. */
export function openMailbox(dir: string | undefined, layout?: Layout): Mailbox {
  const project = resolve(dir ?? ".");
  if (!existsSync(project)) throw new TuttiError("folder_not_found", `there is no folder ${project}`);
  return new Mailbox({ project, world: realWorld, ...(layout === undefined ? {} : { layout }) });
}

/** The time as messages state it. */
export const timeNow = (): string => new Date(realWorld.now()).toISOString();
