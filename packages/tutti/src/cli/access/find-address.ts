import type { Output } from "../terminal/output.ts";
import { findServer } from "./server-file.ts";
import type { ClientOptions } from "../../client/call-route.ts";
import { readToken } from "../../main/data-folder.ts";
import { TuttiError } from "../../schema/error.ts";

/** `GET /api/health` answers at once, so a server that exceeds this limit counts as unreachable. */
const HEALTH_TIMEOUT_MS = 10_000;

/** Prefers `--url` to the server of `findServer`. Returns null if there is neither. */
export async function findAddress({ url, token, dataDir }: Output): Promise<ClientOptions | null> {
  if (url !== undefined) {
    await readHealth(checkedUrl(url));
    // Never send `readToken` to another host: it is for servers on this machine.
    const localToken = isOnThisMachine(url) ? readToken(dataDir) : null;
    const bearer = token ?? process.env["TUTTI_TOKEN"] ?? localToken;
    return { baseUrl: url, ...(bearer === null ? {} : { token: bearer }) };
  }
  const found = findServer(dataDir);
  if (!found) return null;
  try {
    await readHealth(found.url);
  } catch (error) {
    // The server ended after the first `findServer`.
    if (!findServer(dataDir)) return null;
    throw error;
  }
  const bearer = token ?? (found.ownToken ? process.env["TUTTI_TOKEN"] : readToken(dataDir));
  if (bearer !== undefined && bearer !== null) return { baseUrl: found.url, token: bearer };
  const message = `The server at ${found.url} has its own token. Give that token with --token or TUTTI_TOKEN.`;
  throw new TuttiError("unauthorized", message);
}

/** Rejects unless a Tutti server answers at `baseUrl`. `GET /api/health` needs no token. */
async function readHealth(baseUrl: string): Promise<void> {
  // `createCall` is loaded on demand, because most commands run without a server.
  const { createCall } = await import("../../client/call-route.ts");
  const signal = AbortSignal.timeout(HEALTH_TIMEOUT_MS);
  const health = await createCall({ baseUrl })("GET /api/health", { signal }).catch((error: unknown) => {
    throw new TuttiError(
      "server_unreachable",
      `No server answers at ${baseUrl}. Start one with "tutti serve", or correct --url.`,
      { cause: error },
    );
  });
  if (health.status === "ok") return;
  throw new TuttiError("server_unreachable", `The server at ${baseUrl} is not a Tutti server. Correct --url.`);
}

const isOnThisMachine = (url: string): boolean =>
  /^(localhost|\[::1\]|127\.\d+\.\d+\.\d+)$/.test(new URL(url).hostname);

function checkedUrl(url: string): string {
  if (/^https?:$/.test(URL.parse(url)?.protocol ?? "")) return url;
  throw new TuttiError(
    "usage",
    `"${url}" is not a valid value of --url. Give an address such as http://127.0.0.1:4517.`,
  );
}
