import { createHash, timingSafeEqual } from "node:crypto";
import { createServer, type IncomingMessage, type Server } from "node:http";
import { getRequestListener, type HttpBindings } from "@hono/node-server";
import { createMcpHandler } from "@modelcontextprotocol/server";
import type { ToolDesk } from "./tool-desk.ts";
import { WORKER_INSTRUCTIONS, workerTools } from "./worker-tools.ts";
import { createToolServer } from "../../mcp/tool-server.ts";
import { readVersion } from "../../own-files.ts";

interface ToolHttpOptions {
  desk: ToolDesk;
  token: string;
  /** The accepted values of the Host header; null for a Unix socket, which no page can reach. */
  hosts: ReadonlySet<string> | null;
}

const MAX_BODY_BYTES = 1024 * 1024;

/** Serves the tools of one session to the holder of its token. */
export function toolHttpServer({ desk, token, hosts }: ToolHttpOptions): Server {
  const tools = workerTools(desk);
  const version = readVersion();
  const handler = createMcpHandler(() => createToolServer({ instructions: WORKER_INSTRUCTIONS, version, tools }), {
    // With `sse` the comments of the stream keep the connection alive of a call that waits for the user.
    responseMode: "sse",
    maxRequestBodySize: MAX_BODY_BYTES,
  });
  const expected = digest(`Bearer ${token}`);

  const refuse = ({ headers, url }: IncomingMessage): Response | null => {
    // Pages on other sites cannot read the token, but must not reach the server either.
    if (headers.origin !== undefined || (hosts !== null && !hosts.has(headers.host ?? "")))
      return errorResponse(403, "Only the agent of this session may use this address.");
    if (!timingSafeEqual(digest(headers.authorization ?? ""), expected))
      return errorResponse(401, "The token is missing or wrong. Send the value of TUTTI_MCP_TOKEN as a bearer token.");
    return url === "/mcp" ? null : errorResponse(404, "This server has only /mcp.");
  };

  const listener = getRequestListener(
    (request, env) => refuse((env as HttpBindings).incoming) ?? handler.fetch(request),
    { overrideGlobalObjects: false },
  );
  const server = createServer((request, response) => void listener(request, response));
  // A call may wait for days, so there is no `requestTimeout`.
  server.requestTimeout = 0;
  return server;
}

const digest = (text: string): Buffer => createHash("sha256").update(text).digest();

const errorResponse = (status: number, message: string): Response => Response.json({ error: { message } }, { status });
