// A frame is an event on the wire: a stored event whose `timestamp` is an ISO 8601 string.
import type { Frame } from "../schema/api/run-values.ts";
import type { StoredEvent } from "../schema/event.ts";

export type { Frame } from "../schema/api/run-values.ts";

/** Converts a frame to the event that `fold` takes. */
export function toStoredEvent(frame: Frame): StoredEvent {
  return { ...frame, timestamp: Date.parse(frame.timestamp) };
}
