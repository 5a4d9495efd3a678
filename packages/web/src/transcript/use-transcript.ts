import { useEffect, useState } from "react";
import type { TranscriptEntry } from "../../../tutti/src/schema/transcript.ts";
import { server } from "../shell/server.ts";

export interface Transcript {
  /** Null until the first answer is there. */
  entries: TranscriptEntry[] | null;
  error: unknown;
}

const LOOK_EVERY_MS = 1000;

/** What was said and done in a session, looked at again and again while it may still go on. */
export function useTranscript(runId: string, sessionId: string | undefined, alive: boolean): Transcript {
  const [transcript, setTranscript] = useState<Transcript>({ entries: null, error: null });

  useEffect(() => setTranscript({ entries: null, error: null }), [runId, sessionId]);

  useEffect(() => {
    if (sessionId === undefined) return;
    const over = new AbortController();
    let timer: ReturnType<typeof setTimeout> | undefined;
    let known: TranscriptEntry[] = [];
    const look = async () => {
      try {
        known = await readOn(runId, sessionId, known, over.signal);
        setTranscript((before) => (sameEnd(before.entries, known) ? before : { entries: known, error: null }));
      } catch (error) {
        if (!over.signal.aborted) setTranscript((before) => ({ ...before, error }));
      }
      if (alive && !over.signal.aborted) timer = setTimeout(() => void look(), LOOK_EVERY_MS);
    };
    void look();
    return () => {
      over.abort();
      clearTimeout(timer);
    };
  }, [runId, sessionId, alive]);

  return transcript;
}

/** The newest entry is read again, because an agent may still be saying it. */
async function readOn(
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

function sameEnd(before: TranscriptEntry[] | null, after: TranscriptEntry[]): boolean {
  if (before === null || before.length !== after.length) return false;
  return JSON.stringify(before.at(-1)) === JSON.stringify(after.at(-1));
}
