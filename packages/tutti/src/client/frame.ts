// A `Frame` is a `StoredEvent` on the wire: its `timestamp` is an ISO 8601 string.
import type { Frame } from "../schema/api/run-values.ts";
import type { StoredEvent } from "../schema/event.ts";

export type { Frame } from "../schema/api/run-values.ts";

export function toStoredEvent(frame: Frame): StoredEvent {
  return { ...frame, timestamp: Date.parse(frame.timestamp) };
}
