// What was said in the sessions of a data folder.
import { resolve } from "node:path";
import { openHost } from "./sessions.ts";
import type { TranscriptEntry } from "../schema/transcript.ts";

export type ReadTranscript = (id: string, sessionId: string, after: number) => TranscriptEntry[];

/** Entries after one of them. Whoever asks again is read on to from there. */
export function openTranscripts(dataDir: string): ReadTranscript {
  const host = openHost(resolve(dataDir));
  return (id, sessionId, after) => host.transcript(id, sessionId, { after, limit: Number.POSITIVE_INFINITY });
}
