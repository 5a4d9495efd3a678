// A run of a server while it changes: the fold of its events, by the same rules as on the server.
import type { LiveRun } from "./runs.ts";
import type { ClientOptions } from "../client/call-route.ts";
import { followEvents } from "../client/follow-events.ts";
import { toStoredEvent } from "../client/frame.ts";
import { apply, fold } from "../run/apply.ts";
import { TuttiError } from "../schema/error.ts";
import type { StoredEvent } from "../schema/event.ts";
import type { Run } from "../schema/run.ts";

/** How often a connection that was lost is tried again before the command gives up: for about six seconds. */
const TRIES = 6;
const backOffMs = (tries: number): number => 100 * 2 ** (tries - 1);

/** `read` gives all events of the run after one of them. */
export async function watchRun(
  { baseUrl, token }: ClientOptions,
  id: string,
  read: (afterSeq: number) => Promise<StoredEvent[]>,
): Promise<LiveRun> {
  const past = await read(0);
  const first = fold(null, past);
  if (first === null) throw new TuttiError("run_not_found", `there is no run ${id}`);
  let run: Run = first;
  let seq = past.at(-1)!.seq;
  let tries = 0;
  const listeners = new Set<(event: StoredEvent, run: Run) => void>();
  const lost = Promise.withResolvers<never>();
  // Whoever waits hears of it; if nobody does, that is no fault of its own.
  lost.promise.catch(() => {});
  const fail = (error: unknown) => {
    leave();
    lost.reject(error);
  };
  const leave = followEvents({
    baseUrl,
    ...(token === undefined ? {} : { token }),
    run: id,
    after: seq,
    backOffMs,
    onFrame: (frame) => {
      try {
        const event = toStoredEvent(frame);
        run = apply(run, event);
        ({ seq } = event);
        for (const listener of listeners) listener(event, run);
      } catch (error) {
        fail(error);
      }
    },
    onConnection: (connection) => {
      if (connection === "live") tries = 0;
      if (connection !== "waiting" || ++tries < TRIES) return;
      const message = `the server at ${baseUrl} is gone; the run goes on when it is back: tutti attach ${id}`;
      fail(new TuttiError("server_unreachable", message));
    },
  });

  async function passing(reached: (run: Run) => boolean): Promise<void> {
    if (reached(run)) return;
    const { promise, resolve } = Promise.withResolvers<void>();
    const listener = (_: StoredEvent, now: Run) => reached(now) && resolve();
    listeners.add(listener);
    try {
      await Promise.race([promise, lost.promise]);
    } finally {
      listeners.delete(listener);
    }
  }

  return {
    get run() {
      return run;
    },
    past,
    subscribe(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    /**
     * Events that were decided together come one by one, and what lies between them is no state that the run was ever
     * in. The log has them together: what it says is waited for, and counts.
     */
    async until(reached) {
      for (;;) {
        await passing(reached);
        const { runSeq } = fold(run, await read(seq))!;
        await passing((now) => now.runSeq >= runSeq);
        if (reached(run)) return run;
      }
    },
    // What is left to tidy up is the server's to do.
    settled: async () => {},
    close: leave,
  };
}
