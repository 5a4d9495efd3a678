import { useEffect, useState } from "react";
import type { TranscriptEntry } from "../../../tutti/src/schema/transcript.ts";
import { server } from "../shell/server.ts";

export interface LoadedTranscript {
  /** Null until the first response. */
  entries: TranscriptEntry[] | null;
  error: unknown;
}

const POLL_MS = 1000;

/** The transcript of a session, polled every `POLL_MS` while `alive`. */
export function useTranscript(runId: string, sessionId: string | undefined, alive: boolean): LoadedTranscript {
  const [transcript, setTranscript] = useState<LoadedTranscript>({ entries: null, error: null });

  useEffect(() => setTranscript({ entries: null, error: null }), [runId, sessionId]);

  useEffect(() => {
    if (sessionId === undefined) return;
    const unmounted = new AbortController();
    let timer: ReturnType<typeof setTimeout> | undefined;
    let known: TranscriptEntry[] = [];
    const poll = async () => {
      try {
        known = await readNew(runId, sessionId, known, unmounted.signal);
        setTranscript((shown) => (sameEnd(shown.entries, known) ? shown : { entries: known, error: null }));
      } catch (error) {
        if (!unmounted.signal.aborted) setTranscript((shown) => ({ ...shown, error }));
      }
      if (alive && !unmounted.signal.aborted) timer = setTimeout(() => void poll(), POLL_MS);
    };
    void poll();
    return () => {
      unmounted.abort();
      clearTimeout(timer);
    };
  }, [runId, sessionId, alive]);

  return transcript;
}

/** Reads the last known entry again, because an agent may still extend it. */
async function readNew(
  runId: string,
  sessionId: string,
  known: TranscriptEntry[],
  signal: AbortSignal,
): Promise<TranscriptEntry[]> {
  let all = known.slice(0, -1);
  for (;;) {
    const more = await server.transcript(runId, sessionId, { after: all.at(-1)?.n ?? 0 }, signal);
    if (more.length === 0) return all;
    all = [...all, ...more];
  }
}

/** Compares only the last entries: earlier ones never change. */
function sameEnd(shown: TranscriptEntry[] | null, read: TranscriptEntry[]): boolean {
  if (shown === null || shown.length !== read.length) return false;
  return JSON.stringify(shown.at(-1)) === JSON.stringify(read.at(-1));
}
