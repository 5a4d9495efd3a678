// An `Outlet` is the connection to one client of the live events, over WebSocket or server-sent events.
import type { Batch } from "./frame.ts";

export interface Outlet {
  /** Writes the events of `batch`, at least one, in a single write. Returns the number of bytes. */
  send(batch: Batch): number;
  /** `buffered` counts bytes that were written and not sent yet. */
  buffered(): number;
  /** Resolves when the last write has been sent. May stay pending forever on a broken connection. */
  taken(): Promise<void>;
  /** Over WebSocket a heartbeat is a ping, and a client that misses too many pongs is cut. */
  beat(): void;
  /** Unlike `cut`, sends all written data first. */
  end(): void;
  /** Unlike `end`, drops unsent data. */
  cut(): void;
  /** Resolves when either side has closed the connection. */
  readonly closed: Promise<void>;
}
