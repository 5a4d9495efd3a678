// An event as it travels: what is stored, with its time in words that any language reads.
import type { RunEvent, StoredEvent } from "../schema/event.ts";

export type Frame = RunEvent & { seq: number; run: string | null; runSeq: number; timestamp: string };

/** The event as the fold takes it. */
export function toStoredEvent(frame: Frame): StoredEvent {
  return { ...frame, timestamp: Date.parse(frame.timestamp) };
}
