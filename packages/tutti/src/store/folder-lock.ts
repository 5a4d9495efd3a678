// One engine per data folder. The lock is an open SQLite transaction on a file of its own: the kernel gives it free when
// the process ends, however it ends, so there is no stale lock to guess about and no race in taking it.
//
// engine.json beside it says who the owner is. It is no lock: keepers read it to see whether an engine is alive, and the
// message to a second engine names it.
import { existsSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { TuttiError } from "../schema/error.ts";

export interface FolderLock {
  release(): void;
}

/** How long a lock that is only being looked at is waited for. */
const LOOK_MS = 250;

export function lockFolder(folder: string, owner: object): FolderLock {
  const db = new DatabaseSync(join(folder, "engine.lock"), { timeout: LOOK_MS });
  try {
    db.exec("PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE;");
  } catch (error) {
    db.close();
    if (!isHeld(error)) throw error;
    const pid = ownerOf(folder);
    throw new TuttiError(
      "data_folder_in_use",
      `another Tutti engine works on ${folder}${pid === null ? "" : ` (process ${pid})`}; end it first, steer its runs where it runs or in the dashboard of tutti serve, or use another --data-dir`,
    );
  }
  const file = join(folder, "engine.json");
  writeFileSync(`${file}.new`, JSON.stringify(owner), { mode: 0o600 });
  renameSync(`${file}.new`, file);
  return { release: () => db.close() };
}

/** Whether an engine works on the folder, and which; a look that writes nothing and takes nothing over. */
export function findEngine(folder: string): { pid: number | null } | null {
  const file = join(folder, "engine.lock");
  if (!existsSync(file)) return null;
  const db = new DatabaseSync(file, { readOnly: true });
  try {
    db.prepare("SELECT count(*) FROM sqlite_schema").get();
    return null;
  } catch (error) {
    if (!isHeld(error)) throw error;
    return { pid: ownerOf(folder) };
  } finally {
    db.close();
  }
}

const isHeld = (error: unknown): boolean => /locked|busy/i.test(String(error));

function ownerOf(folder: string): number | null {
  try {
    return (JSON.parse(readFileSync(join(folder, "engine.json"), "utf8")) as { pid: number }).pid;
  } catch {
    return null;
  }
}
