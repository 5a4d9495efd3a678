// How many workers a machine is trusted with, unless the person says otherwise.

export const MAX_WORKERS = 20;
/** What a coding agent needs beside its model, as seen with real ones. */
export const MEMORY_PER_WORKER = 300 * 1024 * 1024;
