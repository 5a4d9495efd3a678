// One engine per data folder. The lock is an open SQLite transaction on a file of its own: the kernel gives it free when
// the process ends, however it ends, so there is no stale lock to guess about and no race in taking it.
//
// engine.json beside it says who the owner is. It is no lock: keepers read it to see whether an engine is alive, and the
// message to a second engine names it.
import { readFileSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { TuttiError } from "../schema/error.ts";

export interface FolderLock {
  release(): void;
}

export function lockFolder(folder: string, owner: object): FolderLock {
  const db = new DatabaseSync(join(folder, "engine.lock"));
  try {
    db.exec("PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE;");
  } catch (error) {
    db.close();
    if (!/locked|busy/i.test(String(error))) throw error;
    throw new TuttiError(
      "data_folder_in_use",
      `another Tutti engine works on ${folder}${ownerOf(folder)}; end it first, steer its runs where it runs or in the dashboard of tutti serve, or use another --data-dir`,
    );
  }
  const file = join(folder, "engine.json");
  writeFileSync(`${file}.new`, JSON.stringify(owner), { mode: 0o600 });
  renameSync(`${file}.new`, file);
  return { release: () => db.close() };
}

function ownerOf(folder: string): string {
  try {
    const { pid } = JSON.parse(readFileSync(join(folder, "engine.json"), "utf8")) as { pid: number };
    return ` (process ${pid})`;
  } catch {
    return "";
  }
}
