import { resolve } from "node:path";
import { openHost } from "./sessions.ts";
import type { TranscriptEntry } from "../schema/transcript.ts";

export type ReadTranscript = (id: string, sessionId: string, after: number) => Promise<TranscriptEntry[]>;

/** Reads the entries after `after`. The host caches its position, so the next call continues there. */
export function openTranscripts(dataDir: string): ReadTranscript {
  const host = openHost(resolve(dataDir));
  return (id, sessionId, after) => host.transcript(id, sessionId, { after, limit: Number.POSITIVE_INFINITY });
}
