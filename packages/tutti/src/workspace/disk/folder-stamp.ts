// A `FolderStamp` shows without a git process that the files of a folder have not changed: the engine compares a workspace
// several times, and mostly finds no change. Large folders have no stamp, and git compares them.
import { createHash } from "node:crypto";
import { lstatSync, readdirSync, readFileSync, readlinkSync, type BigIntStats } from "node:fs";
import { join } from "node:path";
import { realWorld } from "../../world.ts";

export interface FolderStamp {
  hash: string;
  /** The files that changed within `TICK_MS` before the stamp. Their content is part of `hash`. */
  recent: ReadonlySet<string>;
}

/** Beyond `MAX_FILES` or `MAX_RECENT_BYTES` a git process is the faster way. */
const MAX_FILES = 500;
const MAX_RECENT_BYTES = 1024 * 1024;
/** `TICK_MS` exceeds a tick of a file system's clock. A second change within one tick does not change a file's time. */
const TICK_MS = 50;

/**
 * Hashes path, type, size and times of all files below `folder`. `readStamp` hashes the content of `recent` files too,
 * because their times do not show another change. Returns null for a folder that is too large or unreadable.
 */
export function readStamp(folder: string): FolderStamp | null {
  const recent = new Set<string>();
  const since = realWorld.now() - TICK_MS;
  const hash = hashFiles(folder, (path, found) => {
    const isRecent = found.ctimeNs / 1_000_000n >= BigInt(Math.floor(since));
    if (isRecent) recent.add(path);
    return isRecent;
  });
  return hash === null ? null : { hash, recent };
}

export const isUnchanged = (folder: string, { hash, recent }: FolderStamp): boolean =>
  hashFiles(folder, (path) => recent.has(path)) === hash;

function hashFiles(folder: string, isRead: (path: string, found: BigIntStats) => boolean): string | null {
  const hash = createHash("sha1");
  let files = 0;
  let bytesLeft = MAX_RECENT_BYTES;
  const add = (path: string): boolean => {
    const found = lstatSync(join(folder, path), { bigint: true });
    const { dev, ino, mode, size, mtimeNs, ctimeNs } = found;
    hash.update(`${path}\0${dev} ${ino} ${mode} ${size} ${mtimeNs} ${ctimeNs}\n`);
    if (!isRead(path, found)) return true;
    if (found.isSymbolicLink()) hash.update(readlinkSync(join(folder, path)));
    if (!found.isFile()) return true;
    bytesLeft -= Number(size);
    if (bytesLeft >= 0)
      hash.update(
        createHash("sha1")
          .update(readFileSync(join(folder, path)))
          .digest(),
      );
    return bytesLeft >= 0;
  };
  const addAll = (below: string): boolean =>
    readdirSync(join(folder, below), { withFileTypes: true }).every((entry) => {
      const path = join(below, entry.name);
      // An agent's git changes the worktree's `.git` without a change of any file.
      if (path === ".git") return true;
      if (entry.isDirectory()) return addAll(path);
      return ++files <= MAX_FILES && add(path);
    });
  try {
    return addAll("") ? hash.digest("hex") : null;
  } catch {
    return null;
  }
}
