// Requests and live events through the Unix socket of an engine in another process.
import { request } from "node:http";
import { connect, type Socket } from "node:net";
import { WebSocket } from "ws";
import type { ClientOptions } from "../../client/call-route.ts";
import type { FollowOptions } from "../../client/follow-events.ts";
import { withShortPath } from "../../main/socket-path.ts";

export interface SocketClient {
  fetch: NonNullable<ClientOptions["fetch"]>;
  open: NonNullable<FollowOptions["open"]>;
}

/** The host of URLs, which a Unix socket does not use. */
export const SOCKET_URL = "http://engine.sock";

export function createSocketClient(path: string): SocketClient {
  const createConnection = (): Socket => withShortPath(path, (short) => connect(short));

  async function send(url: string | URL | Request, init: RequestInit = {}): Promise<Response> {
    const { pathname, search } = new URL(url);
    const { promise, resolve, reject } = Promise.withResolvers<Response>();
    const sent = request(
      {
        // Without an `agent` no connection is kept: it could have ended with its process.
        createConnection,
        path: `${pathname}${search}`,
        method: init.method ?? "GET",
        headers: { ...(init.headers as Record<string, string>), host: new URL(SOCKET_URL).host },
        ...(init.signal && { signal: init.signal }),
      },
      (answer) => {
        const chunks: Buffer[] = [];
        answer.on("data", (chunk: Buffer) => chunks.push(chunk));
        answer.on("error", reject);
        answer.on("end", () => {
          const headers = { "content-type": answer.headers["content-type"] ?? "" };
          resolve(new Response(Buffer.concat(chunks), { status: answer.statusCode!, headers }));
        });
      },
    );
    sent.on("error", reject);
    sent.end(init.body ?? undefined);
    return promise;
  }

  return {
    fetch: send,
    open: (url) => {
      const socket = new WebSocket(url, { createConnection, headers: { "tutti-process": process.pid } });
      // `close` follows, and `followEvents` connects again.
      socket.on("error", () => {});
      return socket as never;
    },
  };
}
