import { once } from "node:events";
import { createServer, get, type IncomingMessage, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { afterEach, beforeEach, expect, it } from "vitest";
import { createHttpServer } from "../../src/server/http-server.ts";
import { unreadAnswers, UnreadAnswers } from "../../src/server/unread-answers.ts";

const ANSWER = Buffer.alloc(32 * 1024 * 1024);
/** Two unread answers fit, and three do not, although the kernel buffers a part of each. */
const MAX_BYTES = 2.2 * ANSWER.length;

/** Without a limit no connection is closed, so the tests do not wait for the end of their time. */
const LIMIT = { timeout: 300_000 };

let server: Server;
beforeEach(() => {
  server = createServer();
});
afterEach(() => {
  server.closeAllConnections();
  server.close();
});

const ask = async (path: string): Promise<IncomingMessage> => {
  const { port } = server.address() as AddressInfo;
  return ((await once(get({ port, path, host: "127.0.0.1" }), "response")) as [IncomingMessage])[0];
};

const readAll = async (answer: IncomingMessage): Promise<number> => {
  let bytes = 0;
  for await (const chunk of answer) bytes += (chunk as Buffer).length;
  return bytes;
};

async function serveAnswers(answers: UnreadAnswers): Promise<{ cut: (string | undefined)[] }> {
  const cut: (string | undefined)[] = [];
  server.on("request", ({ url }, response) => {
    response.once("close", () => response.writableFinished || cut.push(url));
    response.end(ANSWER);
  });
  answers.watch(server);
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return { cut };
}

it("closes the connection that was read least recently when unread answers exceed the limit, and no other", async () => {
  const { cut } = await serveAnswers(new UnreadAnswers(MAX_BYTES));
  await ask("/first");
  expect(await readAll(await ask("/reader"))).toBe(ANSWER.length);
  const second = await ask("/second");
  const third = await ask("/third");
  await expect.poll(() => cut, LIMIT).toEqual(["/first"]);
  expect(await Promise.all([second, third].map(readAll))).toEqual([ANSWER.length, ANSWER.length]);
  expect(cut).toEqual(["/first"]);
});

it("limits the unread answers of all servers of this process to 64 MiB", async () => {
  const { cut } = await serveAnswers(unreadAnswers);
  for (const path of ["/1", "/2", "/3", "/4"]) await ask(path);
  await expect.poll(() => cut.length, LIMIT).toBeGreaterThanOrEqual(1);
  expect(cut.length).toBeLessThan(4);
});

it("makes a large answer wait for room, which the client that reads nothing for a second has to give up", async () => {
  // What the kernel does not buffer of one unread answer leaves no room, so only the end of its connection makes some.
  const answers = new UnreadAnswers(4 * ANSWER.length, 0.5 * ANSWER.length);
  const { cut } = await serveAnswers(answers);
  await answers.room();
  await ask("/stalled");
  const reader = await ask("/reader");
  const waiting = new Set([answers]);
  const room = answers.room().then(() => waiting.clear());
  // A client that reads, however slowly, keeps its connection.
  const parts = reader[Symbol.asyncIterator]() as AsyncIterator<Buffer>;
  let bytes = 0;
  while (waiting.size > 0) {
    for (let part = 0; part < 4; part++) bytes += (await parts.next()).value!.length;
    await sleep(20);
  }
  await room;
  expect(cut).toEqual(["/stalled"]);
  for (let part = await parts.next(); !part.done; part = await parts.next()) bytes += part.value.length;
  expect(bytes).toBe(ANSWER.length);
});

it("Servers end connections that stand still for two minutes", () => {
  const started = createHttpServer();
  expect(started.timeout).toBe(120_000);
  // Its timer would keep this process from exiting.
  started.emit("close");
});
