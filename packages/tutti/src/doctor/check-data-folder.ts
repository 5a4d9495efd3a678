import { accessSync, constants, existsSync, statfsSync, statSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { missing, ok, warning, type Check } from "./check.ts";
import { sentence } from "../sentence.ts";
import { findEngine } from "../store/folder-lock.ts";
import { FORMAT } from "../store/migrate.ts";
import { readFormat } from "../store/read-format.ts";

const GIGABYTE = 1e9;

export function checkDataFolder(dataDir: string): Check[] {
  const folder = resolve(dataDir);
  const name = sentence("data folder");
  const advice = sentence("Make it writable, or choose another folder with --data-dir or TUTTI_DATA_DIR.");
  try {
    const existing = nearestFolder(folder);
    accessSync(existing, constants.R_OK | constants.W_OK | constants.X_OK);
    const space = checkSpace(existing);
    const found = existing === folder ? folder : sentence("{folder}, which will be created when needed", { folder });
    const usable: Check = ok(name, found);
    return existing === folder ? [usable, space, ...checkContent(folder)] : [usable, space];
  } catch (error) {
    const found = sentence("{folder} cannot be used: {detail}", { folder, detail: (error as Error).message });
    return [missing(name, found, advice)];
  }
}

/** Returns `folder` or its nearest ancestor that exists. */
function nearestFolder(folder: string): string {
  const stat = statSync(folder, { throwIfNoEntry: false });
  if (stat === undefined) return nearestFolder(dirname(folder));
  if (!stat.isDirectory()) throw new Error(`${folder} is not a folder`);
  return folder;
}

function checkSpace(folder: string): Check {
  const { bavail, bsize } = statfsSync(folder);
  const gigabytes = (bavail * bsize) / GIGABYTE;
  const found = sentence("{gigabytes} GB free on the disk of the data folder", { gigabytes: gigabytes.toFixed(1) });
  if (gigabytes >= 1) return ok(sentence("free space"), found);
  const advice = sentence(
    "Free some space or move the data folder: each worker needs space for a copy of the repository's files.",
  );
  return warning(sentence("free space"), found, advice);
}

const checkContent = (folder: string): Check[] => [checkEngine(folder), checkStore(folder), checkToken(folder)];

function checkEngine(folder: string): Check {
  const name = sentence("engine");
  try {
    const engine = findEngine(folder);
    if (engine === null) return ok(name, sentence("none runs on the data folder"));
    const found =
      engine.pid === null
        ? sentence("one runs on the data folder")
        : sentence("one runs on the data folder: process {pid}", { pid: engine.pid });
    const advice = sentence("Commands that need their own engine are refused until it ends.");
    return ok(name, found, advice);
  } catch (error) {
    const found = sentence("the lock of the data folder cannot be read: {detail}", {
      detail: (error as Error).message,
    });
    return missing(name, found, sentence("Make sure that you own engine.lock in the data folder."));
  }
}

function checkStore(folder: string): Check {
  const name = sentence("store");
  const file = join(folder, "tutti.db");
  if (!existsSync(file)) return ok(name, sentence("none yet; the first run creates it"));
  try {
    const format = readFormat(file);
    const found = sentence("format {format} in {file}", { format, file });
    if (format === FORMAT) return ok(name, found);
    if (format < FORMAT) {
      return ok(name, sentence("{found}; the next start migrates it to format {newest}", { found, newest: FORMAT }));
    }
    const advice = sentence(
      "Use the newer Tutti that wrote it, or another --data-dir: this version reads formats up to {newest}.",
      { newest: FORMAT },
    );
    return missing(name, found, advice);
  } catch (error) {
    const found = sentence("{file} cannot be read: {detail}", { file, detail: (error as Error).message });
    return missing(name, found, sentence("Restore it from a backup, or use another --data-dir."));
  }
}

function checkToken(folder: string): Check {
  const name = sentence("token");
  const file = join(folder, "token");
  const stat = statSync(file, { throwIfNoEntry: false });
  if (stat === undefined) return ok(name, sentence("none yet; the first tutti serve creates it"));
  const mode = (stat.mode & 0o777).toString(8);
  if ((stat.mode & 0o077) === 0) return ok(name, sentence("{file}, mode {mode}", { file, mode }));
  const found = sentence("other users can read {file} (mode {mode})", { file, mode });
  return warning(name, found, sentence("Run chmod 600 {file}, or delete the file to get a new token.", { file }));
}
