// `server.json` in the data folder gives commands the address of its server. The file is only a hint: it counts only
// while the process that wrote it lives.
import { readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { z } from "zod";
import { identify, isAlive } from "../../session/process.ts";

const ServerFile = z.object({
  url: z.string().regex(/^http:\/\//),
  /** True if the user started the server with a token, instead of the one in the folder. */
  ownToken: z.boolean(),
  process: z.object({ pid: z.number(), startTime: z.string(), bootId: z.string() }),
});
type FoundServer = Pick<z.infer<typeof ServerFile>, "url" | "ownToken"> & { pid: number };

const fileIn = (dataDir: string): string => join(dataDir, "server.json");

/** Writes the `reachable` address of this process. Returns a function that removes the file. */
export function announceServer(dataDir: string, { url, ownToken }: { url: string; ownToken: boolean }): () => void {
  const file = fileIn(dataDir);
  const content = { url: reachable(url), ownToken, process: identify(process.pid)! };
  writeFileSync(`${file}.new`, JSON.stringify(content), { mode: 0o600 });
  renameSync(`${file}.new`, file);
  return () => rmSync(file, { force: true });
}

/** Returns null if the file is missing or not valid, or its process is not `isAlive`. */
export function findServer(dataDir: string): FoundServer | null {
  try {
    const content = JSON.parse(readFileSync(fileIn(dataDir), "utf8")) as z.infer<typeof ServerFile>;
    // Most data folders have no server, and the use of `ServerFile` loads zod.
    if (!isAlive(content.process)) return null;
    const { url, ownToken, process: owner } = ServerFile.parse(content);
    return { url, ownToken, pid: owner.pid };
  } catch {
    return null;
  }
}

/** Replaces a wildcard address, on which a server only listens, with loopback. */
const reachable = (url: string): string => url.replace("//0.0.0.0:", "//127.0.0.1:").replace("//[::]:", "//[::1]:");
