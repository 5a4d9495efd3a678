// One client's end of the live events, whatever carries it.
import type { Batch } from "./frame.ts";

export interface Outlet {
  /** Hands the events, one at least, to the connection, as one write. */
  send(batch: Batch): void;
  /** Bytes that were handed over and not taken yet. */
  buffered(): number;
  /** Resolves when what was handed over last has been taken, or never if it is not. */
  taken(): Promise<void>;
  /** A sign of life, and a question for one where the connection can ask. */
  beat(): void;
  /** Closes politely: what was handed over is still delivered. */
  end(): void;
  /** Closes at once. */
  cut(): void;
  /** Resolves when the connection is gone, by whichever side. */
  readonly closed: Promise<void>;
}
