import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { createServer as createHttpServer } from "node:http";
import { createServer, type Server } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, expect, it } from "vitest";
import { createSocketClient, SOCKET_URL, UnsentRequest } from "../../src/cli/access/socket-client.ts";

const folder = mkdtempSync(join(tmpdir(), "tutti-socket-"));
afterAll(() => rmSync(folder, { recursive: true }));
const servers: Server[] = [];
afterEach(async () => {
  await Promise.all(servers.splice(0).map((server) => new Promise((resolve) => server.close(resolve))));
});

async function listen(server: Server): Promise<ReturnType<typeof createSocketClient>> {
  const path = join(folder, "s");
  servers.push(server.listen(path));
  await once(server, "listening");
  return createSocketClient(path);
}

const order = { method: "POST", body: '{"reason":"lunch"}', headers: { "content-type": "application/json" } };

it("a request that the other process never read may be repeated", async () => {
  const client = await listen(createServer((connection) => connection.destroy()));
  await expect(client.fetch(SOCKET_URL, order)).rejects.toThrow(UnsentRequest);
});

it("a request that the other process began to handle may not be repeated", async () => {
  const client = await listen(createHttpServer((request) => request.on("data", () => request.socket.destroy())));
  await expect(client.fetch(SOCKET_URL, order)).rejects.not.toBeInstanceOf(UnsentRequest);
});

it("a request without a body that was begun may not be repeated", async () => {
  const client = await listen(createHttpServer((request) => request.socket.destroy()));
  await expect(client.fetch(SOCKET_URL, { method: "POST" })).rejects.not.toBeInstanceOf(UnsentRequest);
});

it.each(["POST", "PUT", "DELETE"])("sends the whole body of %s and returns the answer", async (method) => {
  const client = await listen(
    createHttpServer((request, response) => {
      response.statusCode = 201;
      request.pipe(response);
    }),
  );
  const answer = await client.fetch(SOCKET_URL, { ...order, method });
  expect([answer.status, await answer.text()]).toEqual([201, order.body]);
});
