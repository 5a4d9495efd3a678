import { mkdtempSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, dirname, join } from "node:path";

/** macOS allows 103 bytes, Linux 107. */
const MAX_PATH_BYTES = 103;

/** Other processes reach the engine of the data folder through it. */
export const engineSocketIn = (dataDir: string): string => join(dataDir, "engine.sock");

/**
 * Calls `use` with a path of a Unix socket that the kernel accepts. A long path is shortened by a symbolic link to its
 * folder. The link lasts as long as `use`, which binds or connects before it returns.
 */
export function withShortPath<T>(path: string, use: (path: string) => T): T {
  if (Buffer.byteLength(path) <= MAX_PATH_BYTES) return use(path);
  const folder = mkdtempSync(join(shortTemporaryFolder(), "tutti-"));
  try {
    const link = join(folder, "d");
    symlinkSync(dirname(path), link);
    return use(join(link, basename(path)));
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** `TMPDIR` may be as long as the data folder. */
const shortTemporaryFolder = (): string => (Buffer.byteLength(tmpdir()) < MAX_PATH_BYTES / 2 ? tmpdir() : "/tmp");
