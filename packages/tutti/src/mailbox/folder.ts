// `MailboxFolder` has the paths of the mailbox of one project, and the lock that guards all writes.
import { writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import type { World } from "../world.ts";
import { insideMailbox } from "./inside.ts";
import { boxFile, findLayouts, LAYOUTS, mailboxPaths, ownFolder } from "./layout.ts";
import type { MailboxLayout, MailboxPaths } from "./layout.ts";
import { withLock } from "./lock.ts";
import { makeFolder } from "./replace-file.ts";

export interface MailboxOptions {
  project: string;
  /** The layout for a project that has none yet. */
  layout?: MailboxLayout;
  world: World;
}

export class MailboxFolder {
  readonly project: string;
  readonly world: World;
  readonly wanted: MailboxLayout | undefined;

  constructor(options: MailboxOptions) {
    this.project = resolve(options.project);
    this.world = options.world;
    this.wanted = options.layout;
  }

  now(): string {
    return new Date(this.world.now()).toISOString();
  }

  /** The layout for writing: the existing one, or `wanted` if both or none exist. */
  layout(): MailboxLayout {
    const wanted = this.wanted ?? "document";
    const found = findLayouts(this.project);
    return found.includes(wanted) ? wanted : (found[0] ?? wanted);
  }

  paths(): MailboxPaths {
    return mailboxPaths(this.project, this.layout());
  }

  /** Also creates the folder of the box. */
  boxToWrite(box: string): string {
    const { messages } = this.paths();
    makeFolder(this.inside(messages));
    return this.inside(boxFile(messages, box));
  }

  /** One file for each of `LAYOUTS`, that of the document first. */
  boxesToRead(box: string): string[] {
    const files = LAYOUTS.map((layout) => this.inside(boxFile(mailboxPaths(this.project, layout).messages, box)));
    // Links can make both layouts the same file.
    return [...new Set(files)];
  }

  /** One folder for each of `LAYOUTS`; they need not exist. */
  messageFolders(): string[] {
    return LAYOUTS.map((layout) => this.inside(mailboxPaths(this.project, layout).messages));
  }

  archiveFile(box: string): string {
    return this.inside(join(ownFolder(this.project), "archive", `${box}.jsonl`));
  }

  marksFolder(box: string): string {
    return this.inside(join(ownFolder(this.project), "read", box));
  }

  /** Returns the real path. Throws if `insideMailbox` finds a link out of the mailbox. */
  inside(path: string): string {
    return insideMailbox(this.project, path);
  }

  /** Also creates `ownFolder`, which contains the locks. */
  lockFile(name: string): string {
    const folder = this.inside(ownFolder(this.project));
    makeFolder(folder);
    try {
      // These files describe this machine at this moment, so they must not be committed.
      writeFileSync(this.inside(join(folder, ".gitignore")), "*\n", { flag: "wx" });
    } catch {
      // The file exists already, or the disk is full, which the following write reports.
    }
    return this.inside(join(folder, name));
  }

  /** Runs `work` as the only writer of this mailbox across all processes. */
  async locked<T>(work: () => T | Promise<T>): Promise<T> {
    return withLock(this.lockFile("lock"), this.world, work);
  }
}
