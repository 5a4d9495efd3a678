import { once } from "node:events";
import { createServer, get, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, expect, it } from "vitest";
import { limitUnreadAnswers } from "../../src/server/unread-answers.ts";

const ANSWER = Buffer.alloc(32 * 1024 * 1024);
/** Two unread answers fit, and three do not, although the kernel buffers a part of each. */
const MAX_BYTES = 2.2 * ANSWER.length;

const server = createServer();
afterEach(() => {
  server.closeAllConnections();
  server.close();
});

it("closes the connection that was read least recently when unread answers exceed the limit, and no other", async () => {
  const cut: (string | undefined)[] = [];
  server.on("request", ({ url }, response) => {
    response.once("close", () => response.writableFinished || cut.push(url));
    response.end(ANSWER);
  });
  limitUnreadAnswers(server, MAX_BYTES);
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  const ask = async (path: string): Promise<IncomingMessage> =>
    ((await once(get({ port, path, host: "127.0.0.1" }), "response")) as [IncomingMessage])[0];
  const readAll = async (answer: IncomingMessage): Promise<number> => {
    let bytes = 0;
    for await (const chunk of answer) bytes += (chunk as Buffer).length;
    return bytes;
  };

  await ask("/first");
  expect(await readAll(await ask("/reader"))).toBe(ANSWER.length);
  const second = await ask("/second");
  const third = await ask("/third");
  await expect.poll(() => cut, { timeout: 60_000 }).toEqual(["/first"]);
  expect(await Promise.all([second, third].map(readAll))).toEqual([ANSWER.length, ANSWER.length]);
  expect(cut).toEqual(["/first"]);
});
