// One client's end of the live events, whatever carries it.
import type { SharedFrame } from "./frame.ts";

export interface Outlet {
  /** Hands the frames, one at least, to the connection, in this order. */
  send(frames: readonly SharedFrame[]): void;
  /** Bytes that were handed over and not taken yet. */
  buffered(): number;
  /** Resolves when the frames handed over last have been taken, or never if they are not. */
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
