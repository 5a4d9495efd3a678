// Code of others that is told what happened. What it throws is its own fault: the person hears of it, and nothing stops.

export function guarded(work: () => void): void {
  try {
    work();
  } catch (error) {
    process.emitWarning(error instanceof Error ? error : new Error(String(error)));
  }
}
