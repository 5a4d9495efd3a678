// `createSocketClient` sends requests and follows live events through the Unix socket of an engine in another process.
import { request } from "node:http";
import { connect, type Socket } from "node:net";
import { WebSocket } from "ws";
import type { ClientOptions } from "../../client/call-route.ts";
import type { FollowOptions } from "../../client/follow-events.ts";
import { readError } from "../../client/request-error.ts";
import { withShortPath } from "../../main/socket-path.ts";

export interface SocketClient {
  /** Rejects with `UnsentRequest` if the request cannot have had an effect. */
  fetch: NonNullable<ClientOptions["fetch"]>;
  open: NonNullable<FollowOptions["open"]>;
  /** Posts JSON and resolves with the first line of the answer. `HeldAnswer` stays open until one side closes it. */
  hold: (path: string, body: unknown) => Promise<HeldAnswer>;
}

export interface HeldAnswer {
  line: string;
  ended: Promise<void>;
  close: () => void;
}

/** The process behind the socket ended before it read the request, so the caller may repeat it. */
export class UnsentRequest extends Error {}

/** A Unix socket has no host, so every URL of a `SocketClient` begins with `SOCKET_URL`. */
export const SOCKET_URL = "http://engine.sock";

export function createSocketClient(path: string): SocketClient {
  const createConnection = (): Socket => withShortPath(path, (short) => connect(short));

  async function send(url: string | URL | Request, init: RequestInit = {}): Promise<Response> {
    const { pathname, search } = new URL(url);
    const { promise, resolve, reject } = Promise.withResolvers<Response>();
    const { method = "GET" } = init;
    // A process that ends resets the connections that it has not accepted. Only a reset after the interim response can
    // mean that the server had begun to handle the request.
    const expectation = method === "GET" ? {} : { expect: "100-continue" };
    const body = (init.body ?? "") as string;
    let isTaken = false;
    const sent = request(
      {
        // Without an `agent` no connection is kept: it could have ended with its process.
        createConnection,
        path: `${pathname}${search}`,
        method,
        headers: {
          ...(init.headers as Record<string, string>),
          host: new URL(SOCKET_URL).host,
          ...expectation,
          // Node sends the head before the body, and would announce no body for DELETE.
          ...(body !== "" && { "content-length": Buffer.byteLength(body) }),
        },
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
    const sendBody = () => {
      isTaken = true;
      sent.end(body);
    };
    if (method === "GET") sendBody();
    else sent.on("continue", sendBody);
    sent.on("error", (error) => reject(isTaken ? error : new UnsentRequest(error.message, { cause: error })));
    return promise;
  }

  async function hold(path: string, body: unknown): Promise<HeldAnswer> {
    const { promise, resolve, reject } = Promise.withResolvers<HeldAnswer>();
    const headers = { host: new URL(SOCKET_URL).host, "content-type": "application/json" };
    const sent = request({ createConnection, path, method: "POST", headers }, (answer) => {
      const ended = new Promise<void>((resolveEnded) => answer.on("close", resolveEnded));
      // The connection of a killed process is reset; `ended` resolves then too.
      answer.on("error", () => {});
      let read = "";
      answer.setEncoding("utf8");
      answer.on("data", (text: string) => {
        read += text;
        const end = read.indexOf("\n");
        if (end !== -1) resolve({ line: read.slice(0, end), ended, close: () => sent.destroy() });
      });
      void ended.then(async () => reject(await readError(new Response(read, { status: answer.statusCode! }))));
    });
    sent.on("error", reject);
    sent.end(JSON.stringify(body));
    return promise;
  }

  return {
    fetch: send,
    hold,
    open: (url) => {
      const socket = new WebSocket(url, { createConnection, headers: { "tutti-process": process.pid } });
      // `close` follows, and `followEvents` connects again.
      socket.on("error", () => {});
      return socket as never;
    },
  };
}
