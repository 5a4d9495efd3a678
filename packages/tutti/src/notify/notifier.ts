// Sends the notifications of runs to every target, read from the event log.
//
// Invariants
// 1. Delivery is at least once: each notification reaches every target, or is given up with a report. The position of a
//    target is stored after the delivery, and the next notifier continues there. Only a crash between the delivery and
//    `writePositions` repeats a delivery, under the same id.
// 2. `isCurrent` drops a notification that is older than `NOTIFICATION_MAX_AGE_MS`, was answered meanwhile, or was copied from another run.
// 3. A new target receives only events that are appended after `openNotifier`.
import { openQueue, type QueuedNotification, type TargetQueue } from "./target-queue.ts";
import type { NotificationTarget } from "./target.ts";
import { readPositions, writePositions } from "./position-file.ts";
import { notificationOf } from "../run/inbox/notification-of.ts";
import { entryOf } from "../run/fold/shared-record.ts";
import type { StoredEvent } from "../schema/event.ts";
import { NOTIFICATION_MAX_AGE_MS, type NotificationKind } from "../schema/notification.ts";
import type { Run } from "../schema/run.ts";
import type { World } from "../world.ts";

/** The part of the engine that `openNotifier` reads. */
export interface NotifiedRuns {
  events(options: { run?: string; after: number; limit?: number }): StoredEvent[];
  get(id: string): Run | null;
  lastSeq(): number;
  /** Whether another server carries on the run and notifies about it. */
  isForeign?(id: string): boolean;
  subscribe(listener: (event: StoredEvent, run: Run | null) => void): () => void;
}

export interface NotifierOptions {
  runs: NotifiedRuns;
  targets: readonly NotificationTarget[];
  on: readonly NotificationKind[];
  /** The path for `writePositions`. */
  file: string;
  world: World;
  /** Hides secrets before a text leaves this machine. */
  mask: (text: string) => string;
  /** Gets one sentence per problem, such as a failed delivery. */
  report: (problem: string) => void;
}

export interface Notifier {
  /** `dashboard` is the base URL of the run pages, or null without a server. */
  begin(dashboard: string | null): void;
  close(): Promise<void>;
}

const PAGE = 1000;
/** Positions are stored after at most `STORE_EVERY` events, even if none of them makes a notification. */
const STORE_EVERY = 5000;

export function openNotifier(options: NotifierOptions): Notifier {
  const { runs, targets, on, file, world, mask, report } = options;
  if (targets.length === 0) return { begin: () => {}, close: () => Promise.resolve() };
  const openedSeq = runs.lastSeq();
  let seenSeq = openedSeq;
  let storedSeq = openedSeq;
  let dashboard: string | null = null;
  let unsubscribe: (() => void) | null = null;
  let lastWrite: Promise<void> = Promise.resolve();
  let nextWrite: Promise<void> | null = null;

  const queues = targets.map((target) =>
    openQueue({
      target,
      world,
      isCurrent,
      toMessage: (notification) => ({
        ...notification,
        url: dashboard === null ? null : `${dashboard}/runs/${notification.run}`,
      }),
      settled: storePositions,
      report,
    }),
  );

  function isCurrent({ notification, seq, since }: QueuedNotification): boolean {
    const { run: id, kind, item } = notification;
    const run = runs.get(id);
    // `mono` ignores sleep of the machine and changes of its clock, so neither makes a notification old.
    if (run === null || world.mono() - since > NOTIFICATION_MAX_AGE_MS) return false;
    if (item !== null && entryOf(run.inbox, item.id) === undefined) return false;
    if (item === null && kind === "needs_person" && run.status !== "paused") return false;
    return !runs.events({ run: id, after: seq }).some(({ type }) => COPIED.has(type));
  }

  /** Resolves once the current positions are on disk. Calls during a write share `nextWrite`. */
  function storePositions(): Promise<void> {
    nextWrite ??= lastWrite.then(() => {
      nextWrite = null;
      return (lastWrite = writeNow());
    });
    return nextWrite;
  }

  /** A write error is only reported, so that delivery continues. */
  async function writeNow(): Promise<void> {
    storedSeq = seenSeq;
    const withKey = queues.filter(({ target }) => target.key !== null);
    const positions = withKey.map((queue) => [queue.target.key!, queue.settledUpTo(seenSeq)] as const);
    try {
      if (positions.length > 0) await writePositions(file, Object.fromEntries(positions));
    } catch (error) {
      report((error as Error).message);
    }
  }

  function enqueue(event: StoredEvent, run: Run | null, receivers: readonly TargetQueue[], ageMs = 0): void {
    if (event.run === null || runs.isForeign?.(event.run)) return;
    const notification = notificationOf(event, run, mask);
    if (notification === null || !on.includes(notification.kind)) return;
    const since = world.mono() - ageMs;
    for (const queue of receivers) queue.push({ notification, seq: event.seq, since });
  }

  /** Enqueues events that the previous notifier did not settle, and those since `openNotifier`. */
  function catchUp(): void {
    const positions = readPositions(file);
    if (positions === null) report(`${file} cannot be read. Notifications from before this start are not sent.`);
    const now = world.now();
    const from = queues.map(({ target: { key } }) =>
      Math.min((key === null ? null : positions?.[key]) ?? openedSeq, openedSeq),
    );
    for (let after = Math.min(...from); after < seenSeq;) {
      const page = runs.events({ after, limit: PAGE });
      for (const event of page) {
        // `runs.get` folds the log of a finished run, so it is called only for events that make a notification.
        const ageMs = now - event.timestamp;
        if (ageMs > NOTIFICATION_MAX_AGE_MS || event.run === null || notificationOf(event, null) === null) continue;
        const behind = queues.filter((_, i) => from[i]! < event.seq);
        enqueue(event, runs.get(event.run), behind, ageMs);
      }
      after = page.at(-1)?.seq ?? seenSeq;
    }
  }

  return {
    begin(address) {
      dashboard = address;
      seenSeq = runs.lastSeq();
      catchUp();
      void storePositions();
      unsubscribe = runs.subscribe((event, run) => {
        // An event without a run may arrive after an event with a higher `seq`.
        seenSeq = Math.max(seenSeq, event.seq);
        enqueue(event, run, queues);
        if (seenSeq - storedSeq >= STORE_EVERY) void storePositions();
      });
    },
    async close() {
      // Without `begin`, pending notifications are not enqueued, so `storePositions` would skip them all.
      if (unsubscribe === null) return;
      unsubscribe();
      await Promise.all(queues.map((queue) => queue.close()));
      await storePositions();
    },
  };
}

/** A run copied the events before one of `COPIED` from another run. */
const COPIED: ReadonlySet<StoredEvent["type"]> = new Set(["orchestrator:forked", "orchestrator:imported"]);
