// Clients that send the next requests before they have the answer to the first.
import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { ServerLab } from "./server-lab.ts";

let lab: ServerLab;
const sockets: Socket[] = [];
beforeEach(async () => {
  lab = await ServerLab.open();
});
afterEach(async () => {
  for (const socket of sockets.splice(0)) socket.destroy();
  await lab.tearDown();
});

/** Sends a request for each of `paths` and `more` at once. */
function send(paths: readonly string[], more = ""): Socket {
  const socket = connect(lab.server.port, "127.0.0.1");
  sockets.push(socket);
  socket.on("error", () => {});
  const head = `Host: ${lab.host}\r\nAuthorization: ${lab.bearer.authorization}\r\n\r\n`;
  socket.write(paths.map((path) => `GET ${path} HTTP/1.1\r\n${head}`).join("") + more);
  return socket;
}

describe("requests that one connection sends at once", () => {
  it("are carried out one after the other, so answers that nobody reads do not add up", async () => {
    const body = { templateId: "documentation", cwd: lab.lab.repo, agent: "local", message: "x".repeat(900_000) };
    // More bytes than the buffers of a connection.
    const runs = 20;
    for (let i = 0; i < runs; i++) expect((await lab.post("/api/orchestrator", body)).status).toBe(201);
    const get = vi.spyOn(lab.engine, "get");
    const socket = send(Array.from({ length: 50 }, () => "/api/orchestrator?full=1"));
    await once(socket, "readable");
    // Clients read large answers in turns, so until this one is complete, each of the others would have had its turn.
    expect((await lab.api("/api/orchestrator?full=1")).json).toHaveLength(runs);
    expect(get.mock.calls.length - runs).toBeLessThan(runs);
  });

  const statusesOf = (socket: Socket): (() => string[]) => {
    let text = "";
    socket.on("data", (data: Buffer) => (text += data.toString("latin1")));
    return () => Array.from(text.matchAll(/HTTP\/1\.1 (\d+)/g), ([, status]) => status!);
  };

  it("are answered in their order", async () => {
    const statuses = statusesOf(send(["/api/inbox", "/api/nowhere", "/api/runs", "/api/nowhere", "/api/inbox"]));
    await expect.poll(statuses).toEqual(["200", "404", "200", "404", "200"]);
  });

  it("end the connection if one of them is an upgrade that does not wait for the answers before it", async () => {
    const upgrade = "Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n";
    const key = `Sec-WebSocket-Key: ${"A".repeat(22)}==\r\n\r\n`;
    const head = `Host: ${lab.host}\r\nAuthorization: ${lab.bearer.authorization}\r\n`;
    const socket = send(["/api/inbox"], `GET /api/events HTTP/1.1\r\n${head}${upgrade}${key}`);
    const statuses = statusesOf(socket);
    await expect.poll(() => socket.destroyed || statuses().includes("101")).toBe(true);
    expect(statuses()).not.toContain("101");
    expect((await lab.api("/api/inbox")).status).toBe(200);
  });

  it("may be 100 ahead; more end the connection, and no other", async () => {
    const few = send(Array.from({ length: 101 }, () => "/api/inbox"));
    const statuses = statusesOf(few);
    await expect.poll(() => statuses().length).toBe(101);
    const many = send(Array.from({ length: 1000 }, () => "/api/inbox"));
    const closed = new Promise((resolve) => void many.on("close", resolve));
    many.resume();
    await closed;
    expect(few.destroyed).toBe(false);
    expect((await lab.api("/api/inbox")).status).toBe(200);
  });
});
