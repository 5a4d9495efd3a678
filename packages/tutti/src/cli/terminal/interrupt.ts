// Signals that end a command: Ctrl-C, SIGTERM and the end of the terminal.
//
// Invariants
// 1. While `listenForSignals` is in effect, a signal ends the process with `INTERRUPTED`: at once, or after the open works
//    of `untilInterrupted` have cleaned up, but not later than their `graceMs`.
// 2. A process that ends during the clean-up is like a killed one: the next command finds and completes the rest.
const SIGNALS = ["SIGINT", "SIGTERM", "SIGHUP"] as const;

export const INTERRUPTED = 130;

/** Within `GRACE_MS`, every command ends in less than two seconds after a signal, also on a busy machine. */
const GRACE_MS = 1500;

interface InterruptibleWork {
  controller: AbortController;
  graceMs: number;
}

const openWorks = new Set<InterruptibleWork>();
let listeners = 0;
let wasInterrupted = false;

/** `stop` removes the handlers. Calls may be nested. */
export function listenForSignals(): { hasInterrupted: () => boolean; stop: () => void } {
  if (listeners++ === 0) {
    wasInterrupted = false;
    for (const name of SIGNALS) process.on(name, onSignal);
  }
  return {
    hasInterrupted: () => wasInterrupted,
    stop() {
      if (--listeners === 0) for (const name of SIGNALS) process.off(name, onSignal);
    },
  };
}

function onSignal(): void {
  if (openWorks.size === 0) process.exit(INTERRUPTED);
  interruptWorks();
}

/** Does nothing without `openWorks`: such a command ends by itself. */
export function interruptWorks(): void {
  if (openWorks.size === 0) return;
  wasInterrupted = true;
  const graceMs = Math.max(...Array.from(openWorks, (work) => work.graceMs));
  for (const { controller } of openWorks) controller.abort();
  // Also ends a command that has finished while something keeps its process alive.
  setTimeout(() => process.exit(INTERRUPTED), graceMs).unref();
}

/** While `work` runs, a signal aborts its `AbortSignal` instead of ending the process, so that `work` can clean up. */
export async function untilInterrupted<T>(
  work: (signal: AbortSignal) => Promise<T>,
  graceMs: number = GRACE_MS,
): Promise<T> {
  const own = { controller: new AbortController(), graceMs };
  openWorks.add(own);
  try {
    return await work(own.controller.signal);
  } finally {
    openWorks.delete(own);
  }
}

export const waitForStopSignal = (halted: Promise<never>): Promise<void> =>
  untilInterrupted((signal) => Promise.race([whenAborted(signal), halted]), SERVER_GRACE_MS);

/** A server lets requests finish and ends its agents in order, so it gets more than `GRACE_MS`. */
export const SERVER_GRACE_MS = 9000;

export const whenAborted = (signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    if (signal.aborted) resolve();
    signal.addEventListener("abort", () => resolve(), { once: true });
  });
