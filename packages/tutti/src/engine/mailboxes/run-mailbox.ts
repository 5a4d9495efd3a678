// `RunMailbox` keeps the files of document 001 for the roles of a run with the protocol `mailbox`.
//
// Invariants
// 1. The files follow the stored state of the run, so writing them again after a crash changes nothing.
// 2. A message to a role is in its box before the role gets the turn that announces it.
// 3. Whether a report is new is decided by the log, which has every report that was judged.
import { existsSync, lstatSync, mkdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join, sep } from "node:path";
import { MAILBOX_FOLDER } from "../../mailbox/layout.ts";
import { Mailbox } from "../../mailbox/mailbox.ts";
import { canonicalJson } from "../../protocol/json/canonical-json.ts";
import { isRecord } from "../../protocol/json/json-value.ts";
import type { QueueTask } from "../../protocol/mailbox/mailbox-file.ts";
import { workerOf } from "../../run/lookup.ts";
import {
  queuedTasks,
  stepsOf,
  teamStatus,
  type MailboxTaskState,
  type QueuedTask,
} from "../../run/team/mailbox-state.ts";
import { leadOfRun, messageTo } from "../../run/team/team.ts";
import { TuttiError } from "../../schema/error.ts";
import type { Run } from "../../schema/run.ts";
import { boxOf, hasMailbox, hasOutsideRole, workingRoles } from "../../schema/team/roles.ts";
import type { Worker } from "../../schema/worker.ts";
import type { World } from "../../world.ts";

export interface Mail {
  /** Entries that `run.teamMessages` does not have yet. */
  entries: unknown[];
  /** Whether the role has marked its box as read since the message to it was delivered. */
  hasRead: boolean;
}

/** The document, the program that it describes and plain agents use different paths. `LINKS` make them one folder. */
const LINKS = [MAILBOX_FOLDER, "tasks", "messages"];

/** A role outside of Tutti has no access to `dataFolder`, so its mailbox is in the project. */
const mailboxFolder = ({ id, cwd, template }: Run, dataFolder: string | null): string =>
  dataFolder === null || hasOutsideRole(template.roles)
    ? join(cwd, ".tutti", "mailbox", id)
    : join(dataFolder, "mailboxes", id);

/** Returns null if no role of the run works on a mailbox (`hasMailbox`). */
export function openMailbox(run: Run, { mailboxes, dataFolder, world }: MailboxOptions): TeamMailbox | null {
  if (!hasMailbox(run.template.roles)) return null;
  return mailboxes?.(run) ?? new RunMailbox(run, mailboxFolder(run, dataFolder ?? null), world);
}

interface MailboxOptions {
  mailboxes?: (run: Run) => TeamMailbox;
  dataFolder?: string;
  world: World;
}

/** A mailbox as the sessions of a run use it. `RunMailbox` keeps it in files. */
export interface TeamMailbox {
  readonly folder: string;
  reportTo(run: Run): string;
  put(run: Run, worker: Worker): Promise<void>;
  read(run: Run, worker: Worker): Promise<Mail>;
  sync(run: Run): Promise<void>;
  open(): Promise<void>;
  remove(): void;
}

class RunMailbox implements TeamMailbox {
  readonly folder: string;
  readonly #mailbox: Mailbox;
  readonly #cwd: string;
  readonly #world: World;
  #isOpen = false;
  #wanted: Run | null = null;
  #writing: Promise<void> | null = null;
  /** `queuedTasks` and `teamStatus` as last written, so that an unchanged state costs no write. */
  #written = "";

  constructor(run: Run, folder: string, world: World) {
    this.folder = folder;
    this.#cwd = run.cwd;
    this.#world = world;
    this.#mailbox = new Mailbox({ project: folder, layout: "root", world });
  }

  /** Path of the box for reports to `leadOfRun`. */
  reportTo(run: Run): string {
    return join(this.folder, `to-${boxOf(leadOfRun(run)!)}.json`);
  }

  /** Puts the newest message (`messageTo`) into the box of the worker's role, unless it is there already. */
  async put(run: Run, worker: Worker): Promise<void> {
    const message = messageTo(run, worker.sessionId);
    if (message?.type !== "task_assignment") return;
    await this.open();
    const box = boxOf(worker.task.role!);
    const { messages } = await this.#mailbox.peek(box);
    const text = canonicalJson(message.body);
    if (messages.some(({ value }) => canonicalJson(value) === text)) return;
    // Mail of an earlier attempt is about another worktree.
    if (!("rejectionReason" in message.body)) await this.#clear(run, new Set([worker.taskId]));
    await this.#mailbox.send(box, message.body);
  }

  async read(run: Run, { taskId, sessionId, task }: Worker): Promise<Mail> {
    await this.open();
    const { messages } = await this.#mailbox.peek(boxOf(leadOfRun(run)!));
    const known = (run.teamMessages ?? [])
      .filter((each) => each.taskId === taskId)
      .map(({ body }) => canonicalJson(body));
    const entries = messages
      .map(({ value }) => value)
      .filter((value) => isRecord(value) && value["taskId"] === taskId)
      .filter((value) => {
        const at = known.indexOf(canonicalJson(value));
        if (at !== -1) known.splice(at, 1);
        return at === -1;
      });
    const { lastRead } = await this.#mailbox.peek(boxOf(task.role!));
    const since = messageTo(run, sessionId)?.body["timestamp"];
    return { entries, hasRead: typeof since === "string" && lastRead !== null && lastRead >= since };
  }

  /**
   * Writes the queue and the status, and clears the mail of completed tasks. Calls during a write are coalesced to the
   * newest `run`.
   */
  sync(run: Run): Promise<void> {
    this.#wanted = run;
    this.#writing ??= this.#loop().finally(() => {
      this.#writing = null;
    });
    return this.#writing;
  }

  async #loop(): Promise<void> {
    while (this.#wanted !== null) {
      const run = this.#wanted;
      this.#wanted = null;
      await this.#write(run);
    }
  }

  async #write(run: Run): Promise<void> {
    const queue = queuedTasks(run);
    const status = teamStatus(run);
    const text = JSON.stringify([queue, status]);
    if (queue.length === 0 || text === this.#written) return;
    await this.open();
    const done = await this.#writeQueue(run, queue);
    await this.#writeStatus(status);
    await this.#clear(run, new Set(queue.filter(({ status: state }) => state === "completed").map(({ id }) => id)));
    for (const id of done) await this.#logTask(run, id);
    this.#written = text;
  }

  /**
   * Writes every documented state between the last written one and the current one (`stepsOf`). Returns the tasks that
   * completed.
   */
  async #writeQueue(run: Run, queue: readonly QueuedTask[]): Promise<string[]> {
    const { value } = await this.#mailbox.queue.read();
    const steps = queue.map((task) => {
      const written = value.tasks.find(({ id }) => id === task.id);
      return { task, states: written ? stepsOf(writtenState(written), task) : [task.status] };
    });
    const rounds = Math.max(1, ...steps.map(({ states }) => states.length));
    for (let round = 0; round < rounds; round++) {
      await this.#mailbox.queue.update((file) => {
        const now = new Date(this.#world.now()).toISOString();
        const planned = new Set(run.tasks.map(({ id }) => id));
        const tasks = steps.map(({ task, states }): QueueTask => {
          const before = file.tasks.find(({ id }) => id === task.id);
          const state = states[Math.min(round, states.length - 1)] ?? writtenState(before ?? {}).status;
          const isChanged = before?.status !== state;
          return {
            ...before,
            ...task.about,
            id: task.id,
            status: state,
            rejections: task.rejections,
            ...(task.rejectionReason === null ? {} : { rejectionReason: task.rejectionReason }),
            ...(isChanged ? { updatedAt: now } : {}),
          };
        });
        // Entries of other programs stay.
        const others = file.tasks.filter(({ id }) => !planned.has(id));
        const current = queue.find(({ status }) => status === "in_progress" || status === "awaiting_review");
        const completed = tasks.filter(({ status }) => status === "completed").map(({ id }) => id);
        const otherCompleted = file.completed.filter((each) => !planned.has(typeof each === "string" ? each : each.id));
        return {
          tasks: [...tasks, ...others],
          completed: [...completed, ...otherCompleted],
          current: current?.id ?? null,
          lastUpdated: now,
        };
      });
      const changes = steps.flatMap(({ task, states }) => (states[round] ? [`${task.id} is ${states[round]}`] : []));
      if (changes.length > 0) await this.#mailbox.log(changes.map((entry) => ({ level: "INFO", text: entry })));
    }
    return steps.filter(({ states }) => states.at(-1) === "completed").map(({ task }) => task.id);
  }

  async #writeStatus({ running, startedAt, lead, developer, lastCycle }: ReturnType<typeof teamStatus>): Promise<void> {
    const iso = (at: number | null): string | null => (at === null ? null : new Date(at).toISOString());
    await this.#mailbox.status.update((file) => ({
      orchestrator: { ...file.orchestrator, running, pid: running ? process.pid : null, startedAt: iso(startedAt) },
      teamLead: { ...file.teamLead, status: lead.status, lastActivity: iso(lead.lastActivity) },
      developer: { ...file.developer, ...developer, lastActivity: iso(developer.lastActivity) },
      lastCycle,
    }));
  }

  async #clear(run: Run, tasks: ReadonlySet<string>): Promise<void> {
    if (tasks.size === 0) return;
    const { roles = {} } = run.template;
    const names = workingRoles(roles).filter((name) => roles[name]!.protocol === "mailbox");
    const isOver = (value: unknown): boolean => isRecord(value) && tasks.has(String(value["taskId"]));
    for (const name of [...names, leadOfRun(run)!]) {
      const { messages } = await this.#mailbox.peek(boxOf(name));
      if (messages.some(({ value }) => isOver(value))) await this.#mailbox.clear(boxOf(name), isOver);
    }
  }

  async #logTask(run: Run, taskId: string): Promise<void> {
    const worker = workerOf(run, taskId)!;
    const summary = worker.summary === undefined ? {} : { summary: worker.summary };
    const { title } = worker.task;
    await this.#mailbox.logTask({ taskId, title, status: "completed", ...summary, files: worker.outputFiles });
  }

  /** Creates the folder with its links and files, once. A sandbox needs the folder before the agent starts. */
  async open(): Promise<void> {
    if (this.#isOpen) return;
    const parent = dirname(this.folder);
    const isInProject = this.folder.startsWith(this.#cwd + sep);
    if (isInProject) rejectLinks([dirname(parent), parent, this.folder]);
    mkdirSync(this.folder, { recursive: true, mode: 0o700 });
    if (isInProject) ignoreIn(parent);
    for (const name of LINKS) if (!existsSync(join(this.folder, name))) symlinkSync(".", join(this.folder, name));
    await this.#mailbox.init();
    this.#isOpen = true;
  }

  remove(): void {
    rmSync(this.folder, { recursive: true, force: true });
  }
}

/** The repository may contain links, which would lead the mailbox out of the project. */
function rejectLinks(paths: readonly string[]): void {
  const link = paths.find((path) => lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink());
  if (link === undefined) return;
  throw new TuttiError("wrong_state", `${link} is a link, so no mailbox can be created there. Remove the link.`);
}

/** An existing `.gitignore` is left alone, whatever it is. */
function ignoreIn(folder: string): void {
  try {
    writeFileSync(join(folder, ".gitignore"), "*\n", { flag: "wx" });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
  }
}

const STATES: readonly string[] = [
  "pending",
  "in_progress",
  "awaiting_review",
  "completed",
  "rejected",
] satisfies MailboxTaskState[];

function writtenState(task: Partial<QueueTask>): { status: MailboxTaskState; rejections: number } {
  const { status = "pending", rejections } = task as { status?: string; rejections?: unknown };
  return {
    status: STATES.includes(status) ? (status as MailboxTaskState) : "pending",
    rejections: typeof rejections === "number" ? rejections : 0,
  };
}
