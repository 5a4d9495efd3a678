import { once } from "node:events";
import type { Server } from "node:http";
import { socketAccess } from "./access/socket-access.ts";
import {
  createHttpServer,
  serveRequests,
  type ServedParts,
  type ServedRequests,
  type ServingOptions,
} from "./http-server.ts";

/** Serves the routes and events of `startServer` on a Unix socket, which `listen` binds. */
export async function startSocketServer(
  parts: Omit<ServedParts, "webRoot"> & Pick<ServingOptions, "answerFirst">,
  listen: (server: Server) => void,
): Promise<ServedRequests> {
  const server = createHttpServer();
  listen(server);
  await once(server, "listening");
  // With `unref` the socket keeps no process alive: a program that embeds the engine ends as it did without the socket.
  server.unref();
  const noLimits = { limiter: null, onlyNamedAgents: false };
  return serveRequests(server, { ...parts, ...noLimits, webRoot: null, access: socketAccess(parts.tokens) });
}
