// Streamed answers: item by item, at the pace of the client.
import { once } from "node:events";
import { createServer } from "node:http";
import { connect, type AddressInfo } from "node:net";
import { setImmediate as nextTurn } from "node:timers/promises";
import { getRequestListener } from "@hono/node-server";
import { describe, expect, it, onTestFinished } from "vitest";
import { collectGarbage } from "../lab/collect-garbage.ts";
import { streamArray } from "../../src/server/stream-array.ts";

async function serve(answer: () => Promise<Response>): Promise<number> {
  const listener = getRequestListener(answer, { overrideGlobalObjects: false });
  const server = createServer((request, response) => void listener(request, response));
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return (server.address() as AddressInfo).port;
}

describe("a streamed array", () => {
  it.each([[[]], [["1"]], [["1", '"two"', '{"three":[3]}']]])("is the JSON array of its items: %j", async (items) => {
    const port = await serve(() => streamArray(items));
    const response = await fetch(`http://127.0.0.1:${port}`);
    expect(response.headers.get("content-type")).toBe("application/json");
    expect(await response.json()).toEqual(items.map((text) => JSON.parse(text) as unknown));
  });

  it("keeps no item that the client has received, and no text of the one that it has to read next", async () => {
    const bytes = 64 * 1024 * 1024;
    const next = () => ({ done: false, value: Buffer.alloc(bytes, "1").toString("latin1") });
    const items = { [Symbol.iterator]: () => ({ next }) };
    const port = await serve(() => streamArray(items));
    const used = () => {
      collectGarbage();
      return process.memoryUsage();
    };
    const before = used();
    const socket = connect(port, "127.0.0.1");
    socket.write("GET / HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n");
    for (let received = 0; received < bytes;) {
      await once(socket, "readable");
      received += (socket.read() as Buffer | null)?.length ?? 0;
    }
    // The second item is what the client has to read next. Its bytes stay, and nothing else does.
    await expect.poll(() => used().arrayBuffers - before.arrayBuffers).toBeLessThan(1.5 * bytes);
    await expect.poll(() => used().heapUsed - before.heapUsed).toBeLessThan(bytes / 2);
    socket.destroy();
  });

  it("leaves room for other requests between the parts that several clients read at once", async () => {
    const items = Array.from({ length: 5 }, () => JSON.stringify("x".repeat(100_000)));
    const parts: number[] = [];
    const seen: number[] = [];
    const readers = [1, 2, 3, 4].map(async (reader) => {
      const { body } = await streamArray(items);
      for await (const _part of body!) parts.push(reader);
    });
    while (parts.length < 20) {
      await nextTurn();
      seen.push(parts.length);
    }
    await Promise.all(readers);
    const steps = seen.map((count, i) => count - (seen[i - 1] ?? 0));
    expect(Math.max(...steps)).toBe(1);
  });

  it("takes the next items only as the client reads, and ends when the client leaves", async () => {
    const item = JSON.stringify("x".repeat(100_000));
    let taken = 0;
    let ended = false;
    function* endless(): Generator<string> {
      try {
        for (;;) {
          taken += 1;
          yield item;
        }
      } finally {
        ended = true;
      }
    }
    const port = await serve(() => streamArray(endless()));
    const socket = connect(port, "127.0.0.1");
    socket.on("error", () => {});
    socket.write("GET / HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n");
    await once(socket, "readable");
    // The buffers of the kernel fill up, and then nothing more is taken.
    let before = -1;
    await expect
      .poll(
        () => {
          const same = taken === before;
          before = taken;
          return same;
        },
        { interval: 200 },
      )
      .toBe(true);
    expect(taken * item.length).toBeLessThan(64 * 1024 * 1024);
    socket.destroy();
    await expect.poll(() => ended).toBe(true);
  });
});
