// Where the files of document 001 lie. The document has a folder `tasks/` between the orchestrator's folder and the
// messages; every real project leaves it out. Both are read, because one program may follow the document and another
// the code; what is written goes to the layout that is there.
import { statSync } from "node:fs";
import { join } from "node:path";
import { TuttiError } from "../schema/error.ts";

export const LAYOUTS = ["document", "root"] as const;
export type Layout = (typeof LAYOUTS)[number];

export const MAILBOX_FOLDER = ".claude-orchestrator";

/** The boxes of the document. Others, such as a designer's, are made when somebody writes to them. */
export const DOCUMENT_BOXES = ["developer", "team-lead"] as const;

export interface MailboxPaths {
  messages: string;
  queue: string;
  status: string;
  config: string;
  log: string;
}

export function mailboxPaths(project: string, layout: Layout): MailboxPaths {
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

/** What Tutti keeps beside the files of the document: its lock, who has read what, and what was cleared. */
export const ownFolder = (project: string): string => join(project, MAILBOX_FOLDER, ".tutti");

/** The layouts that are there, the document's first. */
export function findLayouts(project: string): Layout[] {
  return LAYOUTS.filter((layout) => {
    const paths = mailboxPaths(project, layout);
    return exists(paths.messages) || exists(paths.queue) || exists(paths.status);
  });
}

function exists(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false }) !== undefined;
}

/** `developer`, `to-developer` and `to-developer.json` are one box. */
export function boxName(text: string): string {
  const name = text.replace(/^to-/, "").replace(/\.json$/, "");
  if (!isPlainName(name)) throw new TuttiError("usage", `${JSON.stringify(text)} cannot be the name of a box`);
  return name;
}

export function consumerName(text: string): string {
  if (!isPlainName(text)) throw new TuttiError("usage", `${JSON.stringify(text)} cannot be the name of a reader`);
  return text;
}

/** Names become parts of paths, so they hold nothing that means something in one. */
const isPlainName = (text: string): boolean => /^[A-Za-z0-9][A-Za-z0-9_-]{0,63}$/.test(text);

export const boxFile = (messages: string, box: string): string => join(messages, `to-${box}.json`);
