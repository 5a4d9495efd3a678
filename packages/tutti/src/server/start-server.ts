import { once } from "node:events";
import type { Server } from "node:http";
import type { AddressInfo } from "node:net";
import { Access, isLoopback } from "./access/access.ts";
import { RateLimiter, type RateLimit } from "./access/rate-limit.ts";
import { createHttpServer, serveRequests, type ServedParts } from "./http-server.ts";
import { TuttiError } from "../schema/error.ts";

export interface ServerOptions extends ServedParts {
  token: string;
  /** `explicitToken` means that the user set `token`. Otherwise a server beyond loopback needs a valid named token. */
  explicitToken?: boolean;
  host?: string;
  /** 0 picks a free port. */
  port: number;
  /** Default: no limit on loopback, `LIMIT_BEYOND_LOOPBACK` elsewhere. */
  rateLimit?: RateLimit;
}

export interface RunningServer {
  url: string;
  port: number;
  close: () => Promise<void>;
}

/** `LIMIT_BEYOND_LOOPBACK` is far above the requests of one user with a dashboard. */
const LIMIT_BEYOND_LOOPBACK: RateLimit = { perMinute: 600 };

export async function startServer(options: ServerOptions): Promise<RunningServer> {
  const { token, tokens, host = "127.0.0.1" } = options;
  if (!isLoopback(host) && options.explicitToken !== true && tokens.list().every(({ expired }) => expired)) {
    const message = `The server cannot listen on ${host} without a token for other machines. Pass --token, or create one with "tutti tokens create NAME --role ROLE".`;
    throw new TuttiError("usage", message);
  }
  const server = createHttpServer();
  const port = await listen(server, host, options.port);
  const access = new Access({ token, tokens, host, port });
  const beyondLoopback = !isLoopback(host);
  const limit = options.rateLimit ?? (beyondLoopback ? LIMIT_BEYOND_LOOPBACK : null);
  const limiter = limit && new RateLimiter(limit);
  const { close } = serveRequests(server, { ...options, access, limiter, onlyNamedAgents: beyondLoopback });
  return { url: `http://${host.includes(":") ? `[${host}]` : host}:${port}`, port, close };
}

export async function listen(server: Server, host: string, port: number): Promise<number> {
  server.listen({ host, port });
  try {
    await once(server, "listening");
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code === "EADDRINUSE" ? "port_in_use" : "usage";
    throw new TuttiError(
      code,
      `Cannot listen on ${host}:${port}: ${(error as Error).message}. Choose another --host or --port.`,
      { cause: error },
    );
  }
  return (server.address() as AddressInfo).port;
}
