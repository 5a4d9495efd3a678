// The address at which an agent reaches the tools of its session. Until the agent connects, only a port is open: the
// modules that serve the tools double the memory of a keeper.
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import type { Server } from "node:http";
import { createServer, type AddressInfo } from "node:net";
import type { ToolDesk } from "./tool-desk.ts";

export interface ToolAddress {
  url: string;
  token: string;
}

const TOKEN_BYTES = 32;

export async function openToolListener(desk: ToolDesk): Promise<ToolAddress> {
  // secret-shapes.ts masks tokens of this form. The server does not know it, so it opens no route.
  const token = `tutti_worker_${randomBytes(TOKEN_BYTES).toString("base64url")}`;
  let tools: Promise<Server> | null = null;
  const listener = createServer({ pauseOnConnect: true }, (connection) => {
    connection.on("error", () => {});
    tools ??= import("./tool-http-server.ts").then(({ toolHttpServer }) => toolHttpServer({ desk, token, port }));
    tools.then(
      (server) => {
        server.emit("connection", connection);
        connection.resume();
      },
      () => connection.destroy(),
    );
  });
  listener.listen({ host: "127.0.0.1", port: 0 });
  await once(listener, "listening");
  const { port } = listener.address() as AddressInfo;
  return { url: `http://127.0.0.1:${port}/mcp`, token };
}
