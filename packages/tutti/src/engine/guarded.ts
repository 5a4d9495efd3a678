// `guarded` runs a callback of other code. An exception becomes a process warning, so that it stops nothing here.

export function guarded(work: () => void): void {
  try {
    work();
  } catch (error) {
    process.emitWarning(error instanceof Error ? error : new Error(String(error)));
  }
}
