// A server that closes a connection at the moment of a request, as it does with one that was idle for too long.
import { once } from "node:events";
import { createServer, type AddressInfo, type Server } from "node:net";
import { afterEach, beforeEach, expect, it } from "vitest";
import { createClient } from "../../src/client/client.ts";

const ANSWER = "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 2\r\nconnection: close\r\n\r\n{}";

let server: Server;
let requests: string[];
let answer: string;
beforeEach(async () => {
  requests = [];
  answer = ANSWER;
  server = createServer((socket) => {
    socket.on("error", () => {});
    socket.on("data", (bytes) => {
      requests.push(bytes.toString("latin1").split(" ", 2).join(" "));
      if (requests.length === 1) socket.resetAndDestroy();
      else socket.end(answer);
    });
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
});
afterEach(() => void server.close());

const connect = () => createClient({ baseUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}` });

it("a request that changes nothing is sent again on a new connection", async () => {
  await expect(connect().call("GET /api/health")).resolves.toEqual({});
  expect(requests).toEqual(["GET /api/health", "GET /api/health"]);
});

it("any other request is sent once, and its failure is reported", async () => {
  const deleted = connect().call("DELETE /api/orchestrator/:id", { params: { id: "orch_1" }, body: {} });
  await expect(deleted).rejects.toMatchObject({ code: "unreachable" });
  expect(requests).toEqual(["DELETE /api/orchestrator/orch_1"]);
});

it("an answer that ends early is reported as a lost connection, not as a wrong answer", async () => {
  requests.push("the one that the server resets");
  answer = ANSWER.replace("content-length: 2", "content-length: 20");
  await expect(connect().call("GET /api/health")).rejects.toMatchObject({ code: "unreachable" });
});
