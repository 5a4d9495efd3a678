import { chmodSync, existsSync, lstatSync, readFileSync, readdirSync, realpathSync } from "node:fs";
import { homedir } from "node:os";
import { isAbsolute, join, resolve } from "node:path";
import { makeFolderDurably } from "../durable-file.ts";
import { TuttiError } from "../schema/error.ts";

/** Other files in a data folder belong to the user and keep their permissions. */
const OWN_ENTRIES =
  /^(?:engine\.(?:lock(?:-journal)?|json|sock(?:\.new)?)|(?:tutti|replica)\.db(?:-wal|-shm|-journal)?|server\.json|token|trusted\.json|changed-programs\.json|notified\.json|keeper\.key|schedules\.json|tutti\.config\.json|tokens|templates|sessions|vault|worktrees)$/;

/**
 * Creates the folder if needed, readable for its owner only. Returns its path without symbolic links: git reports real
 * paths, so all paths below the data folder must be real ones too.
 */
export function openDataFolder(folder: string): string {
  try {
    makeFolderDurably(folder, 0o700);
    const real = realpathSync(folder);
    tighten(real);
    return real;
  } catch (error) {
    throw new TuttiError(
      "storage_failed",
      `The data folder "${folder}" cannot be opened: ${(error as Error).message}. Choose another one with --data-dir.`,
      { cause: error },
    );
  }
}

/**
 * Removes the rights of other users. A folder that holds something else, such as /tmp, keeps its own permissions; only
 * `OWN_ENTRIES` there are changed.
 */
function tighten(folder: string): void {
  const names = readdirSync(folder);
  const entries = names.filter((name) => OWN_ENTRIES.test(name));
  const isOwn = names.length === 0 || existsSync(join(folder, "tutti.db")) || entries.length === names.length;
  for (const path of [...(isOwn ? [folder] : []), ...entries.map((name) => join(folder, name))]) {
    const found = lstatSync(path, { throwIfNoEntry: false });
    const isSticky = ((found?.mode ?? 0) & 0o1000) !== 0;
    // Only the owner may change the permissions.
    if (!found || found.isSymbolicLink() || isSticky || found.uid !== process.getuid?.()) continue;
    if ((found.mode & 0o077) !== 0) chmodSync(path, found.mode & 0o700);
  }
}

/** Prefers `TUTTI_DATA_DIR` to the platform's folder for application data. */
export function defaultDataDir(env: NodeJS.ProcessEnv = process.env): string {
  if (env["TUTTI_DATA_DIR"]) return resolve(env["TUTTI_DATA_DIR"]);
  if (process.platform === "darwin") return join(homedir(), "Library", "Application Support", "tutti");
  if (process.platform === "win32") return join(env["LOCALAPPDATA"] ?? homedir(), "tutti");
  const base = env["XDG_DATA_HOME"];
  return join(base && isAbsolute(base) ? base : join(homedir(), ".local", "share"), "tutti");
}

/** The token of servers on this folder that were started without `--token`. */
export function readToken(dataDir: string): string | null {
  try {
    return readFileSync(join(dataDir, "token"), "utf8").trim();
  } catch {
    return null;
  }
}
