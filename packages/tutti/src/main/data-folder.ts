import { readFileSync } from "node:fs";
import { homedir } from "node:os";
import { isAbsolute, join, resolve } from "node:path";
import { makeFolderDurably } from "../durable-file.ts";
import { TuttiError } from "../schema/error.ts";

export function makeDataFolder(folder: string): void {
  try {
    makeFolderDurably(folder, 0o700);
  } catch (error) {
    throw new TuttiError(
      "storage_failed",
      `The data folder "${folder}" cannot be created: ${(error as Error).message}. Choose another one with --data-dir.`,
      { cause: error },
    );
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
