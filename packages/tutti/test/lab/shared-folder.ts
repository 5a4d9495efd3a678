// Vitest's global set-up: creates the folder for all temporary files of the tests, and removes it after the last test. Test
// files share what is costly to create in it (`shared-sample.ts`, the cluster of `postgres.ts`).
//
// The folder is in memory if the machine has room for it: the tests create some hundred thousand small files, and a disk
// makes them a third slower. Set `TMPDIR` to use another place.
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statfsSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { endCluster } from "./postgres.ts";

const MEMORY = "/dev/shm";
/** The tests need less than a tenth of it at a time. */
const MIN_FREE_BYTES = 4e9;

export function setup(): (() => void) | undefined {
  // Each project of Vitest calls this, and so does a Vitest that a test starts.
  if (process.env["TUTTI_TEST_SHARED"]) return undefined;
  const folder = mkdtempSync(join(process.env["TMPDIR"] ? tmpdir() : (memoryFolder() ?? tmpdir()), "tutti-"));
  // PostgreSQL runs as another user.
  chmodSync(folder, 0o711);
  const shared = join(folder, "shared");
  mkdirSync(shared, { mode: 0o711 });
  process.env["TMPDIR"] = folder;
  process.env["TUTTI_TEST_SHARED"] = shared;
  return () => {
    endCluster(join(shared, "postgres"));
    rmSync(folder, { recursive: true, force: true, maxRetries: 5, retryDelay: 50 });
  };
}

/** Returns null if there is no file system in memory that is large enough and may hold programs. */
function memoryFolder(): string | null {
  if (!existsSync("/proc/mounts") || !existsSync(MEMORY)) return null;
  const [, type, options] =
    new RegExp(`^\\S+ ${MEMORY} (\\S+) (\\S+)`, "m").exec(readFileSync("/proc/mounts", "utf8")) ?? [];
  if (type !== "tmpfs" || options!.split(",").some((option) => ["ro", "noexec"].includes(option))) return null;
  const { bavail, bsize } = statfsSync(MEMORY);
  return bavail * bsize < MIN_FREE_BYTES ? null : MEMORY;
}
