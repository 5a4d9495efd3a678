/** An engine that adopts a session creates the same files again, so `EEXIST` is no error. */
export function ignoreExisting(make: () => unknown): void {
  try {
    make();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
  }
}
