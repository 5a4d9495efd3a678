// The delivery queue of one target: in order, one delivery at a time, with retries.
//
// Invariants
// 1. Each pushed entry is settled exactly once: delivered, given up with a report, or dropped because `isCurrent` is false.
//    `close` may leave entries unsettled; the next notifier pushes those again.
// 2. A target that fails or hangs delays no other target, and its errors never leave the queue.
import { combine, firstGroup } from "./combine.ts";
import type { Delivery, NotificationTarget, OutgoingNotification } from "./target.ts";
import { NOTIFICATION_DELAY_MS, type Notification } from "../schema/notification.ts";
import type { World } from "../world.ts";

/** `seq` is that of the event. */
export interface QueuedNotification {
  notification: Notification;
  seq: number;
  /** When the event happened, by `world.mono`. */
  since: number;
}

interface QueueOptions {
  target: NotificationTarget;
  world: World;
  /** Whether the notification is still worth sending. */
  isCurrent: (queued: QueuedNotification) => boolean;
  toMessage: (notification: Notification) => OutgoingNotification;
  /** Resolves once the new position is stored. The next delivery waits for it. */
  settled: () => Promise<void>;
  report: (problem: string) => void;
}

export interface TargetQueue {
  readonly target: NotificationTarget;
  push(queued: QueuedNotification): void;
  /** Every event up to the returned `seq` is settled, provided that every event up to `seenSeq` was pushed. */
  settledUpTo(seenSeq: number): number;
  /** Delivers `waiting` entries at once and without retries, then ends. */
  close(): Promise<void>;
}

/** Waits between deliveries of one notification. After the last of `RETRY_MS` it is given up. */
const RETRY_MS = [1000, 5000, 30_000, 120_000, 300_000];
/** After `CLOSE_MS`, `close` aborts the current delivery. */
const CLOSE_MS = 5000;

export function openQueue(options: QueueOptions): TargetQueue {
  const { target, world, isCurrent, toMessage, settled } = options;
  const closing = new AbortController();
  const overdue = new AbortController();
  let waiting: QueuedNotification[] = [];
  let busy: Promise<void> = Promise.resolve();
  let isBusy = false;
  /** A failing target reports once (`reportOnce`), until a delivery succeeds. */
  let isFailing = false;

  async function drain(): Promise<void> {
    isBusy = true;
    // Events of one decision are pushed in one go: all of them arrive before `settleNext` forms a group.
    await Promise.resolve();
    try {
      while (waiting.length > 0 && (await settleNext()));
    } catch (error) {
      reportOnce((error as Error).message);
    } finally {
      isBusy = false;
    }
  }

  /** Returns false if the queue was closed first. */
  async function settleNext(): Promise<boolean> {
    const wait = waiting[0]!.notification.at + NOTIFICATION_DELAY_MS - world.now();
    if (wait > 0) await world.sleep(Math.min(wait, NOTIFICATION_DELAY_MS), closing.signal, true);
    const group = new Set(target.combines ? firstGroup(waiting) : waiting.slice(0, 1));
    const current = [...group].filter(isCurrent).map(({ notification }) => notification);
    if (current.length > 0 && !(await deliver(combine(current)))) return false;
    waiting = waiting.filter((each) => !group.has(each));
    await settled();
    return true;
  }

  async function deliver(notification: Notification): Promise<boolean> {
    const message = toMessage(notification);
    for (let tries = 1; ; tries++) {
      const { ok, detail, again } = await deliverOnce(message);
      if (ok) isFailing = false;
      else if (!again || tries > RETRY_MS.length) reportOnce(`${notification.id} could not be delivered: ${detail}`);
      if (ok || !again || tries > RETRY_MS.length) return true;
      await world.sleep(Math.max(again.afterMs, RETRY_MS[tries - 1]!), closing.signal, true);
      if (closing.signal.aborted) return false;
    }
  }

  /**
   * A target that throws, for example because its command has an unclosed quote, would throw again, so there is no
   * `again`.
   */
  async function deliverOnce(message: OutgoingNotification): Promise<Delivery> {
    try {
      return await target.deliver(message, overdue.signal);
    } catch (error) {
      return { ok: false, detail: (error as Error).message };
    }
  }

  function reportOnce(problem: string): void {
    if (!isFailing) options.report(`${target.name}: ${problem}`);
    isFailing = true;
  }

  return {
    target,
    push(next) {
      waiting.push(next);
      if (!isBusy && !closing.signal.aborted) busy = drain();
    },
    settledUpTo: (seenSeq) => (waiting[0] ? waiting[0].seq - 1 : seenSeq),
    async close() {
      closing.abort();
      const done = new AbortController();
      void world.sleep(CLOSE_MS, done.signal).then(() => overdue.abort());
      await busy;
      done.abort();
    },
  };
}
