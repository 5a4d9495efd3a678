// The frames of `SocketOutlet`, read by a real WebSocket client.
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { describe, expect, it, onTestFinished } from "vitest";
import { WebSocket, WebSocketServer } from "ws";
import { removedEvent } from "../../src/store/store.ts";
import type { StoredEvent } from "../../src/schema/event.ts";
import { Batch, encodeFrame } from "../../src/server/live/frame.ts";
import { SocketOutlet } from "../../src/server/live/socket-outlet.ts";

async function connect(): Promise<{ outlet: SocketOutlet; client: WebSocket; got: string[] }> {
  const server = createServer();
  const sockets = new WebSocketServer({ noServer: true, perMessageDeflate: false });
  const opened = new Promise<SocketOutlet>((resolve) => {
    server.on("upgrade", (request, connection, head) =>
      sockets.handleUpgrade(request, connection, head, (socket) => resolve(new SocketOutlet(socket, connection))),
    );
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const client = new WebSocket(`ws://127.0.0.1:${(server.address() as AddressInfo).port}`);
  const got: string[] = [];
  client.on("message", (data: Buffer) => void got.push(data.toString("utf8")));
  onTestFinished(() => {
    client.terminate();
    server.closeAllConnections();
    server.close();
  });
  return { outlet: await opened, client, got };
}

const event = (seq: number, text: string): StoredEvent => ({
  ...removedEvent(seq, 0),
  type: "orchestrator:imported",
  data: { id: text },
});

describe("events over a WebSocket", () => {
  it("arrive whole and in order, whatever their length and characters, also around a ping", async () => {
    const { outlet, client, got } = await connect();
    const bare = encodeFrame(event(1, "")).text.length;
    const lengths = [125, 126, 127, 65_534, 65_535, 65_536, 65_537, 300_000];
    const texts = lengths.map((length) => "x".repeat(length - bare));
    const events = [...texts, "", "é", "𝄞".repeat(40), "\u2028\u0000\n"].map((text, i) => event(i % 9, text));
    for (let from = 0; from < events.length; from += 3) {
      outlet.send(new Batch(events.slice(from, from + 3).map(encodeFrame)));
      if (from === 3) outlet.beat();
    }
    await outlet.taken();
    await expect.poll(() => got.length).toBe(events.length);
    expect(got).toEqual(events.map((each) => encodeFrame(each).text));
    expect(got.slice(0, lengths.length).map(({ length }) => length)).toEqual(lengths);
    expect(client.readyState).toBe(WebSocket.OPEN);
  });

  it("end with a close frame, after which nothing is sent", async () => {
    const { outlet, client, got } = await connect();
    outlet.send(new Batch([encodeFrame(event(1, "last"))]));
    outlet.end();
    outlet.send(new Batch([encodeFrame(event(2, "after"))]));
    const [code] = (await once(client, "close")) as [number];
    expect([code, got.length]).toEqual([1001, 1]);
    await outlet.closed;
  });
});
