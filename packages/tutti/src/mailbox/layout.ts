// `mailboxPaths` has the paths of document 001. In the document a folder `tasks/` contains the messages; real projects
// omit it. Tutti reads both `LAYOUTS`, because one program may follow the document and another the code. It writes to
// the layout that exists.
import { statSync } from "node:fs";
import { join } from "node:path";
import { TuttiError } from "../schema/error.ts";

export const LAYOUTS = ["document", "root"] as const;
export type MailboxLayout = (typeof LAYOUTS)[number];

export const MAILBOX_FOLDER = ".claude-orchestrator";
const NAME_RULE = 'Use up to 64 letters, digits, "_" and "-".';

/** Other boxes than `DOCUMENT_BOXES`, such as one for a designer, are created by the first message to them. */
export const DOCUMENT_BOXES = ["developer", "team-lead"] as const;

export interface MailboxPaths {
  messages: string;
  queue: string;
  status: string;
  config: string;
  log: string;
}

export function mailboxPaths(project: string, layout: MailboxLayout): MailboxPaths {
  const folder = join(project, MAILBOX_FOLDER);
  const tasks = layout === "document" ? join(folder, "tasks") : folder;
  return {
    messages: join(tasks, "messages"),
    queue: join(tasks, "queue.json"),
    status: join(tasks, "status.json"),
    config: join(folder, "config.json"),
    log: join(folder, "logs", "log.md"),
  };
}

/** Files of Tutti itself: locks, read marks and the archive. */
export const ownFolder = (project: string): string => join(project, MAILBOX_FOLDER, ".tutti");

/** Returns the layouts that exist, that of the document first. */
export function findLayouts(project: string): MailboxLayout[] {
  return LAYOUTS.filter((layout) => {
    const paths = mailboxPaths(project, layout);
    return exists(paths.messages) || exists(paths.queue) || exists(paths.status);
  });
}

function exists(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false }) !== undefined;
}

/** `developer`, `to-developer` and `to-developer.json` are the same box. */
export function boxName(text: string): string {
  const name = text.replace(/^to-/, "").replace(/\.json$/, "");
  if (!isPlainName(name))
    throw new TuttiError("usage", `${JSON.stringify(text)} is not a valid box name. ${NAME_RULE}`);
  return name;
}

export function consumerName(text: string): string {
  if (!isPlainName(text))
    throw new TuttiError("usage", `${JSON.stringify(text)} is not a valid reader name. ${NAME_RULE}`);
  return text;
}

/** Rejects characters with a meaning in paths, because names become parts of paths. */
const isPlainName = (text: string): boolean => /^[A-Za-z0-9][A-Za-z0-9_-]{0,63}$/.test(text);

export const boxFile = (messages: string, box: string): string => join(messages, `to-${box}.json`);
