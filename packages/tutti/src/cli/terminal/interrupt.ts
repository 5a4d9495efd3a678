const SIGNALS = ["SIGINT", "SIGTERM", "SIGHUP"] as const;

/** While `work` runs, a signal aborts its `AbortSignal` instead of ending the process, so that `work` can clean up. */
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
