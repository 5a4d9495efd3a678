// A signal to end, heard by the work that is going on.

const SIGNALS = ["SIGINT", "SIGTERM", "SIGHUP"] as const;

/** While the work goes on, a signal does not end the process; the work is told, and ends in order. */
export async function untilInterrupted<T>(work: (signal: AbortSignal) => Promise<T>): Promise<T> {
  const interrupt = new AbortController();
  const onSignal = () => interrupt.abort();
  for (const name of SIGNALS) process.on(name, onSignal);
  try {
    return await work(interrupt.signal);
  } finally {
    for (const name of SIGNALS) process.off(name, onSignal);
  }
}
