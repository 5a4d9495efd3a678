import { mustExist, type LiveRun } from "../access/runs.ts";
import type { RunsAddress } from "../access/server-runs.ts";
import { followEvents } from "../../client/follow-events.ts";
import { toStoredEvent } from "../../client/frame.ts";
import { apply, fold } from "../../run/apply.ts";
import { TuttiError } from "../../schema/error.ts";
import type { StoredEvent } from "../../schema/event.ts";
import type { Run } from "../../schema/run.ts";

/** The command gives up after `MAX_TRIES` failed connections in a row, which takes about three seconds. */
const MAX_TRIES = 6;
const backOffMs = (tries: number): number => 100 * 2 ** (tries - 1);

/** With a `socket` the back-off does not grow, because another process may open the engine at any moment. */
const SOCKET_BACK_OFF_MS = 100;

interface WatchedRun {
  /** Returns all events of the run after `afterSeq`. */
  read: (afterSeq: number) => Promise<StoredEvent[]>;
  activate: () => Promise<void>;
}

/** Folds live events with the same `apply` as the server. */
export async function watchRun(
  { baseUrl, token, socket }: RunsAddress,
  id: string,
  { read, activate }: WatchedRun,
): Promise<LiveRun> {
  const past = await read(0);
  let run: Run = mustExist(fold(null, past), id);
  let seq = past.at(-1)!.seq;
  let tries = 0;
  let wasLost = false;
  const listeners = new Set<(event: StoredEvent, run: Run) => void>();
  const connectionLost = Promise.withResolvers<never>();
  // `waitFor` receives the rejection; without a waiter it must not end the process as unhandled.
  connectionLost.promise.catch(() => {});
  const fail = (error: unknown) => {
    stopFollowing();
    connectionLost.reject(error);
  };
  const stopFollowing = followEvents({
    baseUrl,
    ...(token === undefined ? {} : { token }),
    run: id,
    after: seq,
    ...(socket && { open: socket.open }),
    backOffMs: socket ? () => SOCKET_BACK_OFF_MS : backOffMs,
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
      if (connection === "live") {
        tries = 0;
        // In the engine of another process the run rests until `activate`.
        if (wasLost) activate().catch(fail);
      }
      if (connection !== "waiting") return;
      wasLost = socket !== undefined;
      if (socket) return void socket.reach().catch((error: unknown) => fail(withAttach(error, id)));
      if (++tries < MAX_TRIES) return;
      const message = `The server at ${baseUrl} is gone. When it is back, continue with "tutti attach ${id}".`;
      fail(new TuttiError("server_unreachable", message));
    },
  });

  async function waitFor(reached: (run: Run) => boolean): Promise<void> {
    if (reached(run)) return;
    const { promise, resolve } = Promise.withResolvers<void>();
    const listener = (_: StoredEvent, now: Run) => reached(now) && resolve();
    listeners.add(listener);
    try {
      await Promise.race([promise, connectionLost.promise]);
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
     * Events that were decided together arrive one by one, and the run was never in a state between them. Therefore
     * `reached` counts only if it still holds after everything that is in the log by then.
     */
    async until(reached) {
      for (;;) {
        await waitFor(reached);
        const { runSeq } = fold(run, await read(seq))!;
        await waitFor((now) => now.runSeq >= runSeq);
        if (reached(run)) return run;
      }
    },
    // The server cleans up after its runs, so without a `socket` there is nothing to wait for.
    settled: async () => socket?.settled(id),
    close: stopFollowing,
  };
}

function withAttach(error: unknown, id: string): unknown {
  if (!(error instanceof TuttiError)) return error;
  return new TuttiError(error.code, `${error.message} Then continue with "tutti attach ${id}".`, { cause: error });
}
