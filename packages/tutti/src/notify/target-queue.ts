// What one target has still to be told: in order, one at a time, and again after a while if it could not be told.
//
// Invariants
// 1. What was pushed is settled exactly once: told, given up with a report, or found to hold no longer. When the queue is
//    closed before that, it stays unsettled, and whoever opens the next one pushes it again.
// 2. A target that fails or hangs holds up nobody else, and nothing that it does gets out of here.
import { firstGroup, summedUp } from "./sum-up.ts";
import type { Delivery, Target, Told } from "./target.ts";
import type { Notification } from "../schema/notification.ts";
import type { World } from "../world.ts";

/** A notification and the place of its event in the log. */
export interface Waiting {
  notification: Notification;
  seq: number;
  /** When it happened, by the clock that only goes forward. */
  since: number;
}

export interface QueueOptions {
  target: Target;
  world: World;
  /** Whether it is still worth telling. */
  holds: (waiting: Waiting) => boolean;
  /** As the target gets to see it. */
  dress: (notification: Notification) => Told;
  /** Resolves when it is written down that something is settled; nothing else is told before. */
  settled: () => Promise<void>;
  report: (problem: string) => void;
}

export interface TargetQueue {
  readonly target: Target;
  push(waiting: Waiting): void;
  /** The last event up to which everything is settled, if everything up to `heard` was pushed. */
  settledUpTo(heard: number): number;
  /** Tells what waits without further delay, tries nothing again, and ends. */
  close(): Promise<void>;
}

/** What is answered in this time, such as a plan that a flag confirms, is not told. */
const HOLD_MS = 2000;
/** The waits between tries; then it is given up. */
const RETRY_MS = [1000, 5000, 30_000, 120_000, 300_000];
/** How long the end may be held up. */
const CLOSE_MS = 5000;

export function openQueue(options: QueueOptions): TargetQueue {
  const { target, world, holds, dress, settled } = options;
  const closing = new AbortController();
  const over = new AbortController();
  let waiting: Waiting[] = [];
  let busy: Promise<void> = Promise.resolve();
  let isBusy = false;
  /** The same trouble is told once, until it is over. */
  let isTroubled = false;

  async function work(): Promise<void> {
    isBusy = true;
    // What was decided together is pushed together, and is to be seen together.
    await Promise.resolve();
    try {
      while (waiting.length > 0 && (await settleNext()));
    } catch (error) {
      trouble((error as Error).message);
    } finally {
      isBusy = false;
    }
  }

  /** False if the end came first. */
  async function settleNext(): Promise<boolean> {
    const wait = waiting[0]!.notification.at + HOLD_MS - world.now();
    if (wait > 0) await world.sleep(Math.min(wait, HOLD_MS), closing.signal, true);
    const group = new Set(target.sums ? firstGroup(waiting) : waiting.slice(0, 1));
    const held = [...group].filter(holds).map(({ notification }) => notification);
    if (held.length > 0 && !(await deliver(summedUp(held)))) return false;
    waiting = waiting.filter((each) => !group.has(each));
    await settled();
    return true;
  }

  async function deliver(notification: Notification): Promise<boolean> {
    const told = dress(notification);
    for (let tries = 1; ; tries++) {
      const { ok, detail, again } = await tell(told);
      if (ok) isTroubled = false;
      else if (!again || tries > RETRY_MS.length) trouble(`${notification.id} could not be told: ${detail}`);
      if (ok || !again || tries > RETRY_MS.length) return true;
      await world.sleep(Math.max(again.afterMs, RETRY_MS[tries - 1]!), closing.signal, true);
      if (closing.signal.aborted) return false;
    }
  }

  /** One that cannot even be asked, such as a command with a quote that nothing closes, would stay so. */
  async function tell(told: Told): Promise<Delivery> {
    try {
      return await target.tell(told, over.signal);
    } catch (error) {
      return { ok: false, detail: (error as Error).message };
    }
  }

  function trouble(problem: string): void {
    if (!isTroubled) options.report(`${target.name}: ${problem}`);
    isTroubled = true;
  }

  return {
    target,
    push(next) {
      waiting.push(next);
      if (!isBusy && !closing.signal.aborted) busy = work();
    },
    settledUpTo: (heard) => (waiting[0] ? waiting[0].seq - 1 : heard),
    async close() {
      closing.abort();
      const done = new AbortController();
      void world.sleep(CLOSE_MS, done.signal).then(() => over.abort());
      await busy;
      done.abort();
    },
  };
}
