/** An engine that adopts a session creates the same files again. */
export function ignoreExisting(make: () => unknown): void {
  try {
    make();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
  }
}
