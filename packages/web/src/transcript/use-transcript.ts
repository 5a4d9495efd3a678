import { useEffect, useRef, useState } from "react";
import type { TranscriptEntry } from "../../../tutti/src/schema/transcript.ts";
import { isUnreachable } from "../errors/problem.ts";
import { server } from "../shell/server.ts";
import { untilAnswered } from "../errors/until-answered.ts";

interface LoadedTranscript {
  /** Has no gaps. Null until the first response. */
  entries: TranscriptEntry[] | null;
  /** False while entries after the last one are known to exist, or may exist. */
  isAtEnd: boolean;
  error: unknown;
  readEarlier: () => Promise<void>;
  readLater: () => Promise<void>;
  /** Reads the last entries of the whole transcript that contain the words. */
  find: (words: string) => Promise<TranscriptEntry[]>;
}

interface Loaded {
  entries: TranscriptEntry[];
  isAtEnd: boolean;
}

const POLL_MS = 1000;
/** Entries per request. A transcript opens with its last `PAGE` entries, however long it is. */
const PAGE = 300;
/** Entries that a search of the whole transcript returns, the last ones. */
export const MOST_FOUND = 300;
/** Entries shown before the one that a link names. */
const BEFORE = 100;

/**
 * Reads the end of the transcript, polled every `POLL_MS` while `alive`; or the part around `entry`. The caller renders
 * a new component for another session.
 */
export function useTranscript(
  runId: string,
  sessionId: string | undefined,
  alive: boolean,
  entry: number | null,
): LoadedTranscript {
  const [shown, setShown] = useState<{ loaded: Loaded | null; error: unknown }>({ loaded: null, error: null });
  const known = useRef<Loaded | null>(null);
  const linked = useRef(entry);
  linked.current = entry;
  const show = (loaded: Loaded) => {
    known.current = loaded;
    setShown({ loaded, error: null });
  };

  useEffect(() => {
    if (sessionId === undefined) return;
    const unmounted = new AbortController();
    const read: ReadPage = (page) => server.transcript(runId, sessionId, page, unmounted.signal);
    let timer: ReturnType<typeof setTimeout> | undefined;
    const poll = async () => {
      let isLost = false;
      try {
        const before = known.current;
        if (before === null) show(await readFirst(read, linked.current));
        else if (before.isAtEnd) {
          const loaded = await readOn(read, before);
          setShown((now) => (now.error === null ? now : { ...now, error: null }));
          if (!hasSameEnd(before, loaded)) show(loaded);
        }
      } catch (error) {
        isLost = isUnreachable(error);
        if (!unmounted.signal.aborted) setShown((now) => ({ ...now, error }));
      }
      if ((alive || isLost) && !unmounted.signal.aborted) timer = setTimeout(() => void poll(), POLL_MS);
    };
    void poll();
    return () => {
      unmounted.abort();
      clearTimeout(timer);
    };
  }, [runId, sessionId, alive]);

  const readPage: ReadPage = (page) => server.transcript(runId, sessionId!, page);
  useEffect(() => {
    // A link of a found entry may name one that is not loaded.
    if (entry === null || known.current === null || holds(known.current, entry)) return;
    const unmounted = new AbortController();
    const { signal } = unmounted;
    const fail = (error: unknown) => signal.aborted || setShown((now) => ({ ...now, error }));
    untilAnswered(() => readFirst(readPage, entry), signal, fail).then(
      (loaded) => signal.aborted || show(loaded),
      fail,
    );
    return () => unmounted.abort();
  }, [entry]);
  return {
    entries: shown.loaded?.entries ?? null,
    isAtEnd: shown.loaded?.isAtEnd ?? true,
    error: shown.error,
    readEarlier: async () => {
      if (known.current) show(await readBefore(readPage, known.current));
    },
    readLater: async () => {
      if (known.current) show(await readAfter(readPage, known.current));
    },
    find: (words) => readPage({ find: words, tail: MOST_FOUND }),
  };
}

type ReadPage = (page: { after?: number; limit?: number; tail?: number; find?: string }) => Promise<TranscriptEntry[]>;

const holds = ({ entries }: Loaded, entry: number): boolean =>
  entry >= (entries[0]?.n ?? 1) && entry <= (entries.at(-1)?.n ?? 0);

async function readFirst(read: ReadPage, entry: number | null): Promise<Loaded> {
  if (entry === null) return { entries: await read({ tail: PAGE }), isAtEnd: true };
  const entries = await read({ after: Math.max(0, entry - 1 - BEFORE), limit: PAGE });
  // A link may name an entry that does not exist; then `readFirst` reads the end.
  if (entries.length === 0) return readFirst(read, null);
  return entries.length < PAGE ? readAfter(read, { entries, isAtEnd: false }) : { entries, isAtEnd: false };
}

async function readAfter(read: ReadPage, { entries }: Loaded): Promise<Loaded> {
  const more = await read({ after: entries.at(-1)?.n ?? 0, limit: PAGE });
  return { entries: [...entries, ...more], isAtEnd: more.length === 0 };
}

async function readBefore(read: ReadPage, loaded: Loaded): Promise<Loaded> {
  const first = loaded.entries[0]?.n ?? 1;
  const after = Math.max(0, first - 1 - PAGE);
  let earlier: TranscriptEntry[] = [];
  // The server cuts a page of long entries, so `read` may return fewer than asked for.
  while ((earlier.at(-1)?.n ?? after) < first - 1) {
    const from = earlier.at(-1)?.n ?? after;
    const page = await read({ after: from, limit: first - 1 - from });
    if (page.length === 0) break;
    earlier = [...earlier, ...page];
  }
  return { ...loaded, entries: [...earlier, ...loaded.entries] };
}

/** Also reads the last known entry again, because an agent may still extend it. */
async function readOn(read: ReadPage, { entries }: Loaded): Promise<Loaded> {
  if (entries.length === 0) return readFirst(read, null);
  let all = entries;
  let last = entries.at(-1)!.n - 1;
  for (;;) {
    const more = await read({ after: last });
    if (more.length === 0) return { entries: all, isAtEnd: true };
    all = [...all.filter(({ n }) => n <= last), ...more];
    last = more.at(-1)!.n;
  }
}

/** Only the last of `entries` can change, so the others are not compared. */
function hasSameEnd({ entries: before }: Loaded, { entries: after }: Loaded): boolean {
  return before.length === after.length && JSON.stringify(before.at(-1)) === JSON.stringify(after.at(-1));
}
