import { useEffect, useRef, useState } from "react";
import type { TranscriptEntry } from "../../../tutti/src/schema/transcript.ts";
import { server } from "../shell/server.ts";

export interface LoadedTranscript {
  /** The end of the transcript, without gaps. Null until the first response. */
  entries: TranscriptEntry[] | null;
  error: unknown;
  /** Reads the entries before the first one. */
  readEarlier: () => Promise<void>;
}

const POLL_MS = 1000;
/** Entries per request. A transcript opens with its last ones, however long it is. */
const PAGE = 300;

/** The transcript of a session, polled every `POLL_MS` while `alive`. */
export function useTranscript(runId: string, sessionId: string | undefined, alive: boolean): LoadedTranscript {
  const [shown, setShown] = useState<{ entries: TranscriptEntry[] | null; error: unknown }>({
    entries: null,
    error: null,
  });
  const known = useRef<TranscriptEntry[]>([]);

  useEffect(() => {
    known.current = [];
    setShown({ entries: null, error: null });
  }, [runId, sessionId]);

  useEffect(() => {
    if (sessionId === undefined) return;
    const unmounted = new AbortController();
    let timer: ReturnType<typeof setTimeout> | undefined;
    const poll = async () => {
      try {
        await readOn(runId, sessionId, known, unmounted.signal);
        const entries = known.current;
        setShown((now) => (sameEnd(now.entries, entries) ? { ...now, error: null } : { entries, error: null }));
      } catch (error) {
        if (!unmounted.signal.aborted) setShown((now) => ({ ...now, error }));
      }
      if (alive && !unmounted.signal.aborted) timer = setTimeout(() => void poll(), POLL_MS);
    };
    void poll();
    return () => {
      unmounted.abort();
      clearTimeout(timer);
    };
  }, [runId, sessionId, alive]);

  const readEarlier = async () => {
    const first = known.current[0]?.n ?? 1;
    if (sessionId === undefined || first <= 1) return;
    const after = Math.max(0, first - 1 - PAGE);
    let earlier: TranscriptEntry[] = [];
    // A page of long entries ends early.
    while ((earlier.at(-1)?.n ?? after) < first - 1) {
      const from = earlier.at(-1)?.n ?? after;
      const page = await server.transcript(runId, sessionId, { after: from, limit: first - 1 - from });
      if (page.length === 0) break;
      earlier = [...earlier, ...page];
    }
    known.current = [...earlier, ...known.current];
    setShown({ entries: known.current, error: null });
  };
  return { ...shown, readEarlier };
}

/** Reads the last known entry again, because an agent may still extend it. */
async function readOn(
  runId: string,
  sessionId: string,
  known: { current: TranscriptEntry[] },
  signal: AbortSignal,
): Promise<void> {
  if (known.current.length === 0) {
    known.current = await server.transcript(runId, sessionId, { tail: PAGE }, signal);
    return;
  }
  let last = known.current.at(-1)!.n - 1;
  for (;;) {
    const more = await server.transcript(runId, sessionId, { after: last }, signal);
    if (more.length === 0) return;
    known.current = [...known.current.filter(({ n }) => n <= last), ...more];
    last = more.at(-1)!.n;
  }
}

/** Compares only both ends: other entries never change. */
function sameEnd(shown: TranscriptEntry[] | null, read: TranscriptEntry[]): boolean {
  if (shown === null || shown.length !== read.length || shown[0]?.n !== read[0]?.n) return false;
  return JSON.stringify(shown.at(-1)) === JSON.stringify(read.at(-1));
}
