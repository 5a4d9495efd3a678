// Tells each target of what happens in runs, from the log.
//
// Invariants
// 1. Every notification is told to every target at least once, or given up with a report: how far each has been told is
//    written down after the telling, and the next notifier goes on from there. Only a death between a telling and the
//    note of it makes it told twice, under the same id.
// 2. What is too old, was answered meanwhile, or happened in another run that this one is a copy of, is not told.
// 3. A target that is new hears of nothing that was before it.
import { openQueue, type TargetQueue, type Waiting } from "./target-queue.ts";
import type { Target } from "./target.ts";
import { readTold, writeTold } from "./told-file.ts";
import { notificationOf } from "../run/notification-of.ts";
import { entryOf } from "../run/shared-record.ts";
import type { StoredEvent } from "../schema/event.ts";
import type { NotificationKind } from "../schema/notification.ts";
import type { Run } from "../schema/run.ts";
import type { World } from "../world.ts";

/** What is needed of an engine. */
export interface RunsToTell {
  events(options: { run?: string; after: number; limit?: number }): StoredEvent[];
  get(id: string): Run | null;
  lastSeq(): number;
  subscribe(listener: (event: StoredEvent, run: Run | null) => void): () => void;
}

export interface NotifierOptions {
  runs: RunsToTell;
  targets: readonly Target[];
  /** What is to be told. */
  on: readonly NotificationKind[];
  /** Where it is written down how far each target has been told. */
  file: string;
  world: World;
  /** Takes secrets out of what leaves this machine. */
  mask: (text: string) => string;
  /** Hears, in a sentence, of what could not be told. */
  report: (problem: string) => void;
}

export interface Notifier {
  /** Begins to tell; `dashboard` is the address below which there is a page for each run, if there is one. */
  begin(dashboard: string | null): void;
  close(): Promise<void>;
}

/** What is older is no news. */
const OLDEST_MS = 3_600_000;
const PAGE = 1000;
/** So many events without news before it is written down that there was none. */
const NOTE_EVERY = 5000;

export function openNotifier(options: NotifierOptions): Notifier {
  const { runs, targets, on, file, world, mask, report } = options;
  if (targets.length === 0) return { begin: () => {}, close: () => Promise.resolve() };
  const opened = runs.lastSeq();
  let heard = opened;
  let noted = opened;
  let dashboard: string | null = null;
  let leave: (() => void) | null = null;
  let lastNote: Promise<void> = Promise.resolve();
  let nextNote: Promise<void> | null = null;

  const queues = targets.map((target) =>
    openQueue({
      target,
      world,
      holds,
      dress: (notification) => ({
        ...notification,
        url: dashboard === null ? null : `${dashboard}/runs/${notification.run}`,
      }),
      settled: note,
      report,
    }),
  );

  function holds({ notification, seq, since }: Waiting): boolean {
    const { run: id, kind, item } = notification;
    const run = runs.get(id);
    // The time in which the machine slept, or by which its clock was set, makes nothing old.
    if (run === null || world.mono() - since > OLDEST_MS) return false;
    if (item !== null && entryOf(run.inbox, item.id) === undefined) return false;
    if (item === null && kind === "needs_person" && run.status !== "paused") return false;
    return !runs.events({ run: id, after: seq }).some(({ type }) => COPIED.has(type));
  }

  /** Resolves when what is settled by now is written down. Those who ask while it is being written share the next time. */
  function note(): Promise<void> {
    nextNote ??= lastNote.then(() => {
      nextNote = null;
      return (lastNote = write());
    });
    return nextNote;
  }

  /** A note that cannot be written is no reason to tell nothing. */
  async function write(): Promise<void> {
    noted = heard;
    const lasting = queues.filter(({ target }) => target.key !== null);
    const told = lasting.map((queue) => [queue.target.key!, queue.settledUpTo(heard)] as const);
    try {
      if (told.length > 0) await writeTold(file, Object.fromEntries(told));
    } catch (error) {
      report((error as Error).message);
    }
  }

  function hear(event: StoredEvent, run: Run | null, listeners: readonly TargetQueue[], ageMs = 0): void {
    const notification = event.run === null ? null : notificationOf(event, run, mask);
    if (notification === null || !on.includes(notification.kind)) return;
    const since = world.mono() - ageMs;
    for (const queue of listeners) queue.push({ notification, seq: event.seq, since });
  }

  /** What the last notifier left, and what has happened since this one was opened. */
  function catchUp(): void {
    const told = readTold(file);
    if (told === null) report(`${file} cannot be read; nothing from before now is told`);
    const now = world.now();
    const from = queues.map(({ target: { key } }) => Math.min((key === null ? null : told?.[key]) ?? opened, opened));
    for (let after = Math.min(...from); after < heard;) {
      const page = runs.events({ after, limit: PAGE });
      for (const event of page) {
        // The state of a run that is over has to be folded first, so it is asked for only where there is something to tell.
        const ageMs = now - event.timestamp;
        if (ageMs > OLDEST_MS || event.run === null || notificationOf(event, null) === null) continue;
        const late = queues.filter((_, i) => from[i]! < event.seq);
        hear(event, runs.get(event.run), late, ageMs);
      }
      after = page.at(-1)?.seq ?? heard;
    }
  }

  return {
    begin(address) {
      dashboard = address;
      heard = runs.lastSeq();
      catchUp();
      void note();
      leave = runs.subscribe((event, run) => {
        // What belongs to no run may come after an event that is later in the log.
        heard = Math.max(heard, event.seq);
        hear(event, run, queues);
        if (heard - noted >= NOTE_EVERY) void note();
      });
    },
    async close() {
      // Whoever has not begun knows nothing of what is still to be told.
      if (leave === null) return;
      leave();
      await Promise.all(queues.map((queue) => queue.close()));
      await note();
    },
  };
}

/** The last event of what a run was given of another one's past. */
const COPIED: ReadonlySet<StoredEvent["type"]> = new Set(["orchestrator:forked", "orchestrator:imported"]);
