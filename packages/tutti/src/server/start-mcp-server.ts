// Serves `/mcp` on loopback: streamable HTTP of the Model Context Protocol, with the checks of `Access`.
import { once } from "node:events";
import { createServer } from "node:http";
import { getRequestListener, type HttpBindings } from "@hono/node-server";
import { createMcpHandler } from "@modelcontextprotocol/server";
import { Access, accessRequest, OWNER } from "./access/access.ts";
import type { NamedTokens } from "./access/named-tokens.ts";
import { encodeError } from "./encode-error.ts";
import { SECURITY_HEADERS } from "./headers.ts";
import { listen, type RunningServer } from "./start-server.ts";
import type { createToolServer } from "../mcp/tool-server.ts";
import { TuttiError } from "../schema/error.ts";

export interface McpServerOptions {
  token: string;
  tokens: NamedTokens;
  /** 0 picks a free port. */
  port: number;
  /** Creates the tools of a caller by its named token; null is the holder of `token`. */
  server: (token: string | null) => ReturnType<typeof createToolServer>;
}

const HOST = "127.0.0.1";
const GRACE_MS = 500;

export async function startMcpServer({
  token,
  tokens,
  port: wanted,
  server,
}: McpServerOptions): Promise<RunningServer> {
  // `createServer` without a timeout: a call may wait for the user for days.
  const http = createServer();
  const port = await listen(http, HOST, wanted);
  const access = new Access({ token, tokens, host: HOST, port });
  // With `sse` the comments of the stream keep the connection of a long call alive.
  const handler = createMcpHandler(({ authInfo }) => server(authInfo!.token || null), {
    responseMode: "sse",
  });

  const answer = async (request: Request, { incoming }: HttpBindings): Promise<Response> => {
    try {
      const head = accessRequest(incoming, false);
      access.checkOrigin(head);
      const { cookie: _, ...headers } = head.headers;
      const holder = access.checkToken({ ...head, headers });
      if (new URL(request.url).pathname !== "/mcp") {
        throw new TuttiError(
          "not_found",
          "This server has only /mcp. Start the API and the dashboard with tutti serve.",
        );
      }
      const bearer = holder === OWNER ? "" : headers.authorization!.replace(/^Bearer +/i, "");
      return await handler.fetch(request, { authInfo: { token: bearer, clientId: holder.id, scopes: [] } });
    } catch (error) {
      const { status, body } = encodeError(error);
      return Response.json(body, { status, headers: SECURITY_HEADERS });
    }
  };
  const listener = getRequestListener((request, env) => answer(request, env as HttpBindings), {
    overrideGlobalObjects: false,
  });
  http.on("request", (request, response) => void listener(request, response));

  const close = async (): Promise<void> => {
    const closed = once(http, "close");
    http.close();
    await handler.close();
    const forceClose = setTimeout(() => http.closeAllConnections(), GRACE_MS);
    http.closeIdleConnections();
    await closed;
    clearTimeout(forceClose);
  };
  return { url: `http://${HOST}:${port}`, port, close };
}
