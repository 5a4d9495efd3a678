// An event as it travels: what is stored, with its time in words that any language reads.
import type { Frame } from "../schema/api/run-values.ts";
import type { StoredEvent } from "../schema/event.ts";

export type { Frame } from "../schema/api/run-values.ts";

/** The event as the fold takes it. */
export function toStoredEvent(frame: Frame): StoredEvent {
  return { ...frame, timestamp: Date.parse(frame.timestamp) };
}
