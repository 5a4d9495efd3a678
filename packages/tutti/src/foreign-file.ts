// `readForeignFile` reads a file of a repository or of an agent. There may be a link to a device that never ends, a pipe
// that waits for a writer, or more bytes than fit in memory.
import { closeSync, constants, fstatSync, openSync, readSync } from "node:fs";

/** `MAX_FOREIGN_BYTES` is more than a file of settings needs. */
const MAX_FOREIGN_BYTES = 4 * 1024 * 1024;
const TOO_LONG = `it is larger than ${MAX_FOREIGN_BYTES / 1024 / 1024} MiB`;

/** Throws if `file` is not a regular file of at most `MAX_FOREIGN_BYTES`. */
export function readForeignFile(file: string): string {
  const fd = openSync(file, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0));
  try {
    const stats = fstatSync(fd);
    if (!stats.isFile()) throw new Error("it is not a regular file");
    if (stats.size > MAX_FOREIGN_BYTES) throw new Error(TOO_LONG);
    const chunks: Buffer[] = [];
    // Not until `stats.size`: the files in /proc have none, and some of them never end.
    for (let left = MAX_FOREIGN_BYTES; ;) {
      const chunk = Buffer.allocUnsafe(Math.min(left, Math.max(stats.size, 4096)) + 1);
      const length = readSync(fd, chunk);
      if (length === 0) return Buffer.concat(chunks).toString("utf8");
      chunks.push(chunk.subarray(0, length));
      left -= length;
      if (left < 0) throw new Error(TOO_LONG);
    }
  } finally {
    closeSync(fd);
  }
}
