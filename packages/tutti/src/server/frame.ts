// An event as it leaves the server: the same over WebSocket, over server-sent events and in the lists.
import type { StoredEvent } from "../schema/event.ts";

export interface Frame {
  /** Counts over the whole server. */
  seq: number;
  /** Null for events of the server itself. */
  run: string | null;
  /** Counts within the run. */
  runSeq: number;
  type: string;
  data: unknown;
  timestamp: string;
}

export function frameOf({ seq, run, runSeq, type, data, timestamp }: StoredEvent): Frame {
  return { seq, run, runSeq, type, data, timestamp: new Date(timestamp).toISOString() };
}

/** A frame that is written down at most once, however many clients it goes to. */
export class SharedFrame {
  readonly event: StoredEvent;
  #text: string | null = null;

  constructor(event: StoredEvent) {
    this.event = event;
  }

  get text(): string {
    return (this.#text ??= JSON.stringify(frameOf(this.event)));
  }
}
