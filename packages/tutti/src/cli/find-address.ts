// Which server a command speaks to: the one that the person names, else the one that works on the same data folder.
import type { Output } from "./output.ts";
import { findServer, folderToken } from "./server-file.ts";
import type { ClientOptions } from "../client/call-route.ts";
import { TuttiError } from "../schema/error.ts";

/** A server answers this at once; one that has not by then is not there for anybody. */
const PATIENCE_MS = 10_000;

/** Null if no server is named and none works on the folder. */
export async function findAddress({ url, token, dataDir }: Output): Promise<ClientOptions | null> {
  if (url !== undefined) {
    await readHealth(checkedUrl(url));
    // The folder's token is for servers of this machine, and goes nowhere else.
    const folders = isOnThisMachine(url) ? folderToken(dataDir) : null;
    const known = token ?? process.env["TUTTI_TOKEN"] ?? folders;
    return { baseUrl: url, ...(known === null ? {} : { token: known }) };
  }
  const found = findServer(dataDir);
  if (!found) return null;
  try {
    await readHealth(found.url);
  } catch (error) {
    // It ended in this moment.
    if (!findServer(dataDir)) return null;
    throw error;
  }
  const own = token ?? (found.ownToken ? process.env["TUTTI_TOKEN"] : folderToken(dataDir));
  if (own !== undefined && own !== null) return { baseUrl: found.url, token: own };
  const message = `the server at ${found.url} was started with a token of its own; give it with --token or TUTTI_TOKEN`;
  throw new TuttiError("unauthorized", message);
}

/** Fails unless a server of ours answers there; it says so to anybody. */
async function readHealth(baseUrl: string): Promise<void> {
  // Most commands are given no server, and need not load what speaks to one.
  const { createCall } = await import("../client/call-route.ts");
  const signal = AbortSignal.timeout(PATIENCE_MS);
  const health = await createCall({ baseUrl })("GET /api/health", { signal }).catch((error: unknown) => {
    throw new TuttiError("server_unreachable", `no server answers at ${baseUrl}`, { cause: error });
  });
  if (health.status === "ok") return;
  throw new TuttiError("server_unreachable", `what answers at ${baseUrl} is no server of Tutti`);
}

const isOnThisMachine = (url: string): boolean =>
  /^(localhost|\[::1\]|127\.\d+\.\d+\.\d+)$/.test(new URL(url).hostname);

function checkedUrl(url: string): string {
  if (/^https?:$/.test(URL.parse(url)?.protocol ?? "")) return url;
  throw new TuttiError("usage", `--url takes an address such as http://127.0.0.1:4517, not ${url}`);
}
