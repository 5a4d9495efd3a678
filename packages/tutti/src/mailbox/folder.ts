// The mailbox of one project on disk: where its files are, and the one lock under which all of them are written.
import { writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import type { World } from "../world.ts";
import { insideMailbox } from "./inside.ts";
import { boxFile, findLayouts, LAYOUTS, mailboxPaths, ownFolder } from "./layout.ts";
import type { Layout, MailboxPaths } from "./layout.ts";
import { withLock } from "./lock.ts";
import { makeFolder } from "./replace-file.ts";

export interface MailboxOptions {
  /** The project's folder. */
  project: string;
  /** The layout to write if none is there yet. */
  layout?: Layout;
  world: World;
}

export class MailboxFolder {
  readonly project: string;
  readonly world: World;
  /** The layout that somebody asked for. */
  readonly wanted: Layout | undefined;

  constructor(options: MailboxOptions) {
    this.project = resolve(options.project);
    this.world = options.world;
    this.wanted = options.layout;
  }

  /** The time as messages state it. */
  now(): string {
    return new Date(this.world.now()).toISOString();
  }

  /** The layout that is written: the one that is there, the wanted one if both or none are. */
  layout(): Layout {
    const wanted = this.wanted ?? "document";
    const found = findLayouts(this.project);
    return found.includes(wanted) ? wanted : (found[0] ?? wanted);
  }

  paths(): MailboxPaths {
    return mailboxPaths(this.project, this.layout());
  }

  /** The file that a box is written to; its folder is made. */
  boxToWrite(box: string): string {
    const { messages } = this.paths();
    makeFolder(this.inside(messages));
    return this.inside(boxFile(messages, box));
  }

  /** The files that a box is read from: one for each layout, the document's first. */
  boxesToRead(box: string): string[] {
    return LAYOUTS.map((layout) => this.inside(boxFile(mailboxPaths(this.project, layout).messages, box)));
  }

  /** The folders in which a file of a box can appear. */
  messageFolders(): string[] {
    return LAYOUTS.map((layout) => this.inside(mailboxPaths(this.project, layout).messages));
  }

  archiveFile(box: string): string {
    return this.inside(join(ownFolder(this.project), "archive", `${box}.jsonl`));
  }

  marksFolder(box: string): string {
    return this.inside(join(ownFolder(this.project), "read", box));
  }

  /** The real path of a file of this mailbox; refuses one that leads elsewhere. */
  inside(path: string): string {
    return insideMailbox(this.project, path);
  }

  /** Makes the folder of our own and returns the path of a lock in it. */
  lockFile(name: string): string {
    const own = this.inside(ownFolder(this.project));
    makeFolder(own);
    try {
      // What lies here is about this machine and this moment, so it does not belong into a commit.
      writeFileSync(this.inside(join(own, ".gitignore")), "*\n", { flag: "wx" });
    } catch {
      // It is there already, or the disk is full, which the work itself will find out.
    }
    return this.inside(join(own, name));
  }

  /** Runs work as the only writer of this mailbox, over all processes. */
  async locked<T>(work: () => T | Promise<T>): Promise<T> {
    return withLock(this.lockFile("lock"), this.world, work);
  }
}
