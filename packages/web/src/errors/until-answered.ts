import { isUnreachable } from "./problem.ts";

const FIRST_WAIT_MS = 250;
const MOST_WAIT_MS = 4000;

/**
 * Sends a request again until the server answers it or `signal` aborts: a connection may be lost once, without an outage
 * that `live` would notice. `read` changes nothing on the server. `onLost` gets each failure but the last.
 */
export async function untilAnswered<T>(
  read: () => Promise<T>,
  signal: AbortSignal,
  onLost: (error: unknown) => void = () => {},
): Promise<T> {
  for (let waitMs = FIRST_WAIT_MS; ; waitMs = Math.min(2 * waitMs, MOST_WAIT_MS)) {
    try {
      return await read();
    } catch (error) {
      if (signal.aborted || !isUnreachable(error)) throw error;
      onLost(error);
    }
    await new Promise((resolve) => setTimeout(resolve, waitMs));
    signal.throwIfAborted();
  }
}
