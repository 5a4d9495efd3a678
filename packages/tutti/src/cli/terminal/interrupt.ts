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

/** Resolves on a signal to end; rejects with `halted` if the engine halts first. */
export const waitForStopSignal = (halted: Promise<never>): Promise<void> =>
  untilInterrupted((signal) => Promise.race([whenAborted(signal), halted]));

export const whenAborted = (signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    if (signal.aborted) resolve();
    signal.addEventListener("abort", () => resolve(), { once: true });
  });
