// Where the server of a data folder listens: a small file that it leaves there while it listens, so that commands on the
// same folder find it. It is a hint and never more: what it says counts only while the very process that wrote it lives.
import { readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { z } from "zod";
import { identify, isAlive } from "../main/processes.ts";

const ServerFile = z.object({
  url: z.string().regex(/^http:\/\//),
  /** Whether it asks for a token that the person gave it, instead of the one in the folder. */
  ownToken: z.boolean(),
  process: z.object({ pid: z.number(), startTime: z.string(), bootId: z.string() }),
});
export type FoundServer = Pick<z.infer<typeof ServerFile>, "url" | "ownToken"> & { pid: number };

const fileIn = (dataDir: string): string => join(dataDir, "server.json");

/** Says where this process listens. Returns what takes it back. */
export function announceServer(dataDir: string, { url, ownToken }: { url: string; ownToken: boolean }): () => void {
  const file = fileIn(dataDir);
  const content = { url: reachable(url), ownToken, process: identify(process.pid)! };
  writeFileSync(`${file}.new`, JSON.stringify(content), { mode: 0o600 });
  renameSync(`${file}.new`, file);
  return () => rmSync(file, { force: true });
}

/** The server of this folder, if one is alive. */
export function findServer(dataDir: string): FoundServer | null {
  try {
    const { url, ownToken, process: owner } = ServerFile.parse(JSON.parse(readFileSync(fileIn(dataDir), "utf8")));
    return isAlive(owner) ? { url, ownToken, pid: owner.pid } : null;
  } catch {
    return null;
  }
}

/** The token that servers of this folder ask for unless they were given another. */
export function folderToken(dataDir: string): string | null {
  try {
    return readFileSync(join(dataDir, "token"), "utf8").trim();
  } catch {
    return null;
  }
}

/** A server that listens on every address of the machine is spoken to on this one. */
const reachable = (url: string): string => url.replace("//0.0.0.0:", "//127.0.0.1:").replace("//[::]:", "//[::1]:");
