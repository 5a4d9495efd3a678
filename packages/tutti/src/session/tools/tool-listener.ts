// A `ToolAddress` is where an agent reaches the tools of its session. Until the agent connects, only a port is open:
// the modules that serve the tools double the memory of a keeper.
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { rmSync } from "node:fs";
import type { Server } from "node:http";
import { createServer, type AddressInfo } from "node:net";
import { basename } from "node:path";
import type { ToolDesk } from "./tool-desk.ts";

export interface ToolAddress {
  url: string;
  token: string;
}

const TOKEN_BYTES = 32;

/**
 * `socket` is the path of the Unix socket as an agent in the sandbox finds it; null listens on loopback.
 * `openToolListener` makes the socket in the current folder, which is the session folder, because the path of a socket
 * must be short.
 */
export async function openToolListener(desk: ToolDesk, socket: string | null = null): Promise<ToolAddress> {
  // secret-shapes.ts masks tokens of this form. The server does not know it, so it opens no route.
  const token = `tutti_worker_${randomBytes(TOKEN_BYTES).toString("base64url")}`;
  let tools: Promise<Server> | null = null;
  const listener = createServer({ pauseOnConnect: true }, (connection) => {
    connection.on("error", () => {});
    tools ??= import("./tool-http-server.ts").then(({ toolHttpServer }) => toolHttpServer({ desk, token, hosts }));
    tools.then(
      (server) => {
        server.emit("connection", connection);
        connection.resume();
      },
      () => connection.destroy(),
    );
  });
  let hosts: ReadonlySet<string> | null = null;
  if (socket !== null) {
    // A keeper that was killed may have left the socket.
    rmSync(basename(socket), { force: true });
    listener.listen(basename(socket));
    await once(listener, "listening");
    return { url: `http+unix://${encodeURIComponent(socket)}/mcp`, token };
  }
  listener.listen({ host: "127.0.0.1", port: 0 });
  await once(listener, "listening");
  const { port } = listener.address() as AddressInfo;
  hosts = new Set([`127.0.0.1:${port}`, `localhost:${port}`]);
  return { url: `http://127.0.0.1:${port}/mcp`, token };
}
