import { vi } from "vitest";

const HANG_MS = 600_000;

/** Like `vi.waitUntil`, which by default gives up after a second, too soon for a busy machine. */
export const waitUntil = <T>(condition: () => T | Promise<T>) =>
  vi.waitUntil(condition, { timeout: HANG_MS, interval: 50 });
