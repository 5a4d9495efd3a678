export const MAX_WORKERS = 20;
/** Bytes that a coding agent needs, as measured with real ones. */
export const MEMORY_PER_WORKER = 300 * 1024 * 1024;
