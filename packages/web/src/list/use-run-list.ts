// The summaries of all runs. An event only triggers `refresh`, which fetches the whole list, so nothing is counted twice.
import { useEffect, useState } from "react";
import { isInformational } from "../../../tutti/src/schema/event.ts";
import { followEvents, type Connection } from "../../../tutti/src/client/follow-events.ts";
import { toStoredEvent } from "../../../tutti/src/client/frame.ts";
import type { ListedRun, WaitingItem } from "../../../tutti/src/client/run-summary.ts";
import { notifyUser } from "../notify/notify-user.ts";
import { baseUrl, server } from "../shell/server.ts";

export interface RunList {
  runs: ListedRun[] | null;
  inbox: WaitingItem[];
  connection: Connection;
  error: unknown;
}

/** Debounces a burst of events into one `refresh`. */
const REFRESH_AFTER_MS = 200;
const PAGE = 1000;

type Read<T> = (page: { after?: string; limit: number }, signal: AbortSignal) => Promise<T[]>;

/** Reads all pages; the oldest entries come first. */
async function readAll<T extends { id: string }>(read: Read<T>, signal: AbortSignal): Promise<T[]> {
  const all: T[] = [];
  for (;;) {
    const after = all.at(-1)?.id;
    const part = await read({ limit: PAGE, ...(after !== undefined && { after }) }, signal);
    all.push(...part);
    if (part.length < PAGE) return all;
  }
}

export function useRunList(): RunList & { retry: () => void } {
  const [list, setList] = useState<RunList>({ runs: null, inbox: [], connection: "connecting", error: null });
  const [tries, setTries] = useState(0);

  useEffect(() => {
    const unmounted = new AbortController();
    let timer: ReturnType<typeof setTimeout> | undefined;
    const refresh = async () => {
      timer = undefined;
      try {
        const [runs, inbox] = await Promise.all([
          readAll(server.list, unmounted.signal),
          readAll(server.inbox, unmounted.signal),
        ]);
        setList((previous) => ({ ...previous, runs, inbox, error: null }));
      } catch (error) {
        if (!unmounted.signal.aborted) setList((previous) => ({ ...previous, error }));
      }
    };
    const unsubscribe = followEvents({
      baseUrl,
      onFrame: (frame) => {
        notifyUser(toStoredEvent(frame), null);
        if (!isInformational(frame.type)) timer ??= setTimeout(() => void refresh(), REFRESH_AFTER_MS);
      },
      onConnection: (connection) => {
        setList((previous) => ({ ...previous, connection }));
        // Events during a lost connection were missed; the list contains their effect.
        if (connection !== "connecting") void refresh();
      },
    });
    return () => {
      unmounted.abort();
      clearTimeout(timer);
      unsubscribe();
    };
  }, [tries]);

  return { ...list, retry: () => setTries(tries + 1) };
}
