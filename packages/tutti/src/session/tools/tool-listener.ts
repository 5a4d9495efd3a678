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

const TOKEN_BYTES = 32;

/** Opens a port on loopback. Connections wait until `openToolListener` gets it. */
export async function openPort(): Promise<Listener> {
  const listener = createServer({ pauseOnConnect: true });
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
): Promise<ToolAddress> {
  // secret-shapes.ts masks tokens of this form. The server does not know it, so it opens no route.
  const token = `tutti_worker_${randomBytes(TOKEN_BYTES).toString("base64url")}`;
  let tools: Promise<Server> | null = null;
  const serve = (connection: Socket): void => {
    connection.on("error", () => {});
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
  if (socket !== null) {
    // A keeper that was killed may have left the socket.
    rmSync(basename(socket), { force: true });
    port?.close();
    const listener = createServer({ pauseOnConnect: true }, serve);
    listener.listen(basename(socket));
    await once(listener, "listening");
    return { url: `http+unix://${encodeURIComponent(socket)}/mcp`, token };
  }
  const listener = (port ?? (await openPort())).on("connection", serve);
  const address = listener.address() as AddressInfo;
  hosts = new Set([`127.0.0.1:${address.port}`, `localhost:${address.port}`]);
  return { url: `http://127.0.0.1:${address.port}/mcp`, token };
}
