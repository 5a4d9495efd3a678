// All runs in summary. Events say when to look again; the list itself is asked for as a whole, so that nothing is
// counted twice.
import { useEffect, useState } from "react";
import { onlyTells } from "../../../tutti/src/schema/event.ts";
import { followEvents, type Connection } from "../../../tutti/src/client/follow-events.ts";
import { toStoredEvent } from "../../../tutti/src/client/frame.ts";
import type { RunSummary, WaitingItem } from "../../../tutti/src/client/run-summary.ts";
import { tellPerson } from "../notify/tell-person.ts";
import { baseUrl, server } from "../shell/server.ts";

export interface RunList {
  runs: RunSummary[] | null;
  inbox: WaitingItem[];
  connection: Connection;
  error: unknown;
}

/** A burst of events is one reason to look. */
const LOOK_AFTER_MS = 200;
const PAGE = 1000;

type Read<T> = (page: { after?: string; limit: number }, signal: AbortSignal) => Promise<T[]>;

/** A list comes in parts, the oldest first. */
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
    const over = new AbortController();
    let timer: ReturnType<typeof setTimeout> | undefined;
    const look = async () => {
      timer = undefined;
      try {
        const [runs, inbox] = await Promise.all([
          readAll(server.list, over.signal),
          readAll(server.inbox, over.signal),
        ]);
        setList((before) => ({ ...before, runs, inbox, error: null }));
      } catch (error) {
        if (!over.signal.aborted) setList((before) => ({ ...before, error }));
      }
    };
    const leave = followEvents({
      baseUrl,
      onFrame: (frame) => {
        tellPerson(toStoredEvent(frame), null);
        if (!onlyTells(frame.type)) timer ??= setTimeout(() => void look(), LOOK_AFTER_MS);
      },
      onConnection: (connection) => {
        setList((before) => ({ ...before, connection }));
        // Whatever happened while nobody listened is in the list.
        if (connection !== "connecting") void look();
      },
    });
    return () => {
      over.abort();
      clearTimeout(timer);
      leave();
    };
  }, [tries]);

  return { ...list, retry: () => setTries(tries + 1) };
}
