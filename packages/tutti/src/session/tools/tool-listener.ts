// A `ToolAddress` is where an agent reaches the tools of its session. Until the agent connects, only a port is open:
// the modules that serve the tools double the memory of a keeper.
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { rmSync } from "node:fs";
import type { Server } from "node:http";
import { createServer, type AddressInfo, type Server as Listener, type Socket } from "node:net";
import { basename } from "node:path";
import type { ToolDesk } from "./tool-desk.ts";

export interface ToolAddress {
  url: string;
  token: string;
}

export interface ToolListener extends ToolAddress {
  /** Ends all connections, so that nothing reaches the `ToolDesk` any more. */
  close(): void;
}

const TOKEN_BYTES = 32;

/**
 * Until `openToolListener` gets the port, no agent knows it, and a paused connection would stay open after its client has
 * ended.
 */
const refuse = (connection: Socket): void => void connection.destroy();

/** Opens a port on loopback. */
export async function openPort(): Promise<Listener> {
  const listener = createServer({ pauseOnConnect: true }, refuse);
  listener.listen({ host: "127.0.0.1", port: 0 });
  await once(listener, "listening");
  return listener;
}

/**
 * `socket` is the path of the Unix socket as an agent in the sandbox finds it; null listens on loopback.
 * `openToolListener` makes the socket in the current folder, which is the session folder, because the path of a socket
 * must be short. `port` was opened ahead, and is closed if a socket is made instead.
 */
export async function openToolListener(
  desk: ToolDesk,
  socket: string | null = null,
  port: Listener | null = null,
): Promise<ToolListener> {
  // secret-shapes.ts masks tokens of this form. The server does not know it, so it opens no route.
  const token = `tutti_worker_${randomBytes(TOKEN_BYTES).toString("base64url")}`;
  let tools: Promise<Server> | null = null;
  const connections = new Set<Socket>();
  const serve = (connection: Socket): void => {
    connections.add(connection);
    connection.on("error", () => {}).once("close", () => connections.delete(connection));
    tools ??= import("./tool-http-server.ts").then(({ toolHttpServer }) => toolHttpServer({ desk, token, hosts }));
    tools.then(
      (server) => {
        server.emit("connection", connection);
        connection.resume();
      },
      () => connection.destroy(),
    );
  };
  let hosts: ReadonlySet<string> | null = null;
  const closeAll = (listener: Listener): void => {
    listener.close();
    for (const connection of connections) connection.destroy();
  };
  if (socket !== null) {
    // A keeper that was killed may have left the socket.
    rmSync(basename(socket), { force: true });
    port?.close();
    const listener = createServer({ pauseOnConnect: true }, serve);
    listener.listen(basename(socket));
    await once(listener, "listening");
    return { url: `http+unix://${encodeURIComponent(socket)}/mcp`, token, close: () => closeAll(listener) };
  }
  const listener = (port ?? (await openPort())).off("connection", refuse).on("connection", serve);
  const address = listener.address() as AddressInfo;
  hosts = new Set([`127.0.0.1:${address.port}`, `localhost:${address.port}`]);
  return { url: `http://127.0.0.1:${address.port}/mcp`, token, close: () => closeAll(listener) };
}
