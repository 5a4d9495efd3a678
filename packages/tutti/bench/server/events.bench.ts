// Measures live events: the delay from publishing an event to its arrival at a client, with 1, 100 and 1,000 WebSocket
// clients, and the deliveries per second of the server's CPU time in bursts, compared with one plain socket write per
// event and client. Clients run in their own process and read raw bytes.
// Run: npm run bench -- events
import { fork, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { createServer as createHttpServer } from "node:http";
import { connect, createServer, type AddressInfo, type Socket } from "node:net";
import { setImmediate as turn, setTimeout as wait } from "node:timers/promises";
import type { StoredEvent } from "../../src/schema/event.ts";
import { Feed } from "../../src/server/live/feed.ts";
import type { EventLog } from "../../src/server/live/follower.ts";
import { SocketOutlet } from "../../src/server/live/socket-outlet.ts";
import { WebSocketServer } from "ws";

const CLIENTS = [1, 100, 1000];
const BURST = 10;
const ROUNDS = 3;
const DELIVERIES = 300_000;
const LATENCIES = 300;
/** With its envelope, an event of about 300 bytes. */
const FILLING = "x".repeat(170);
const MARK = '"sent":"';

/** A log that stores nothing, so that only the delivery is measured. */
class ToldLog implements EventLog {
  #listener: Parameters<EventLog["subscribe"]>[0] = () => {};
  #last = 0;
  rawEvents = () => [];
  lastSeq = () => this.#last;

  subscribe(listener: Parameters<EventLog["subscribe"]>[0]): () => void {
    this.#listener = listener;
    return () => {};
  }

  tell(): void {
    const seq = ++this.#last;
    const data = { id: FILLING, sent: String(process.hrtime.bigint()) };
    const event = { seq, run: "orch_000000000000", runSeq: seq, type: "orchestrator:imported", data, timestamp: 0 };
    this.#listener(event as unknown as StoredEvent, null);
  }
}

interface Rig {
  port: number;
  /** Publishes `count` events at once to all clients. */
  send(count: number): Promise<void>;
  close(): void;
}

async function feedRig(): Promise<Rig> {
  const log = new ToldLog();
  const feed = new Feed(log);
  const server = createHttpServer();
  const sockets = new WebSocketServer({ noServer: true, perMessageDeflate: false });
  server.on("upgrade", (request, connection, head) => {
    sockets.handleUpgrade(request, connection, head, (socket) => {
      feed.follow(new SocketOutlet(socket, connection), { after: null, run: null, types: null });
    });
  });
  server.listen({ port: 0, host: "127.0.0.1", backlog: 2000 });
  await once(server, "listening");
  return {
    port: (server.address() as AddressInfo).port,
    async send(count) {
      for (let i = 0; i < count; i++) log.tell();
      await turn();
    },
    close() {
      feed.close();
      server.closeAllConnections();
      server.close();
      for (const socket of sockets.clients) socket.terminate();
    },
  };
}

/** The baseline: the same bytes, one write per event and client. */
async function rawRig(): Promise<Rig> {
  const open = new Set<Socket>();
  const server = createServer((socket) => {
    open.add(socket);
    socket.on("error", () => {});
    // Answers the upgrade request, so that the clients see no difference.
    socket.once("data", () => socket.write("HTTP/1.1 101 Switching Protocols\r\n\r\n"));
  });
  server.listen({ port: 0, host: "127.0.0.1", backlog: 2000 });
  await once(server, "listening");
  return {
    port: (server.address() as AddressInfo).port,
    async send(count) {
      for (let i = 0; i < count; i++) {
        const data = { id: FILLING, sent: String(process.hrtime.bigint()) };
        const timestamp = new Date(0).toISOString();
        const frame = { seq: i, run: "orch_000000000000", runSeq: i, type: "orchestrator:imported", data, timestamp };
        const bytes = Buffer.from(JSON.stringify(frame));
        for (const socket of open) socket.write(bytes);
      }
      await turn();
    },
    close() {
      for (const socket of open) socket.destroy();
      server.close();
    },
  };
}

interface Readers {
  process: ChildProcess;
  /** `count` is the number of deliveries since the last call; `latencies` are in milliseconds. */
  ask(): Promise<{ count: number; latencies: number[] }>;
}

async function readers(port: number, clients: number): Promise<Readers> {
  const child = fork(import.meta.filename, ["--read", String(port), String(clients)], { execArgv: [] });
  await once(child, "message");
  const ask = async () => {
    child.send("ask");
    const [answer] = (await once(child, "message")) as [{ count: number; latencies: number[] }];
    return answer;
  };
  return { process: child, ask };
}

/** Counts `MARK` in the input of all clients, and reads the first one of each chunk. */
async function read(port: number, clients: number): Promise<void> {
  let count = 0;
  let latencies: number[] = [];
  for (let i = 0; i < clients; i++) {
    const socket = connect(port, "127.0.0.1");
    await once(socket, "connect");
    const key = "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13";
    socket.write(`GET /api/events HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n${key}\r\n\r\n`);
    await once(socket, "data");
    let tail = Buffer.alloc(0);
    socket.on("data", (chunk: Buffer) => {
      const now = process.hrtime.bigint();
      // `MARK` may be split between two chunks.
      const bytes = tail.length > 0 ? Buffer.concat([tail, chunk]) : chunk;
      const first = bytes.indexOf(MARK);
      if (first >= 0) {
        const sent = bytes.toString("latin1", first + MARK.length, bytes.indexOf('"', first + MARK.length));
        if (/^\d{10,}$/.test(sent)) latencies.push(Number(now - BigInt(sent)) / 1e6);
      }
      for (let at = first; at >= 0; at = bytes.indexOf(MARK, at + 1)) count++;
      tail = Buffer.from(bytes.subarray(Math.max(0, bytes.length - MARK.length + 1)));
    });
    socket.on("error", () => {});
  }
  process.on("message", () => {
    process.send!({ count, latencies });
    count = 0;
    latencies = [];
  });
  process.on("disconnect", () => process.exit());
  process.send!("ready");
}

async function measure(rig: Rig, clients: number): Promise<{ perCpuSecond: number; p50: number; p99: number }> {
  const crowd = await readers(rig.port, clients);
  await rig.send(BURST);
  await wait(200);
  await crowd.ask();
  const bursts = Math.max(20, Math.ceil(DELIVERIES / clients / BURST));
  const before = process.cpuUsage();
  for (let i = 0; i < bursts; i++) {
    await rig.send(BURST);
    // Match the readers' speed; clients that fall behind would be disconnected.
    if (i % 4 === 3) await wait(1);
  }
  let delivered = 0;
  while (delivered < bursts * BURST * clients) {
    const { count } = await crowd.ask();
    delivered += count;
    if (count === 0) await wait(5);
  }
  const { user, system } = process.cpuUsage(before);
  for (let i = 0; i < LATENCIES; i++) {
    await rig.send(1);
    await wait(clients > 100 ? 20 : 3);
  }
  await wait(100);
  const { latencies } = await crowd.ask();
  crowd.process.disconnect();
  await once(crowd.process, "exit");
  latencies.sort((a, b) => a - b);
  const at = (share: number) => latencies[Math.floor((latencies.length - 1) * share)]!;
  return { perCpuSecond: (delivered / (user + system)) * 1e6, p50: at(0.5), p99: at(0.99) };
}

const median = (values: number[]): number => values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)]!;

if (process.argv[2] === "--read") await read(Number(process.argv[3]), Number(process.argv[4]));
else {
  console.log(
    `bursts of ${BURST}, medians of ${ROUNDS} rounds; "share" is of one plain write for each event and client`,
  );
  for (const clients of CLIENTS) {
    const feed: Awaited<ReturnType<typeof measure>>[] = [];
    const raw: Awaited<ReturnType<typeof measure>>[] = [];
    for (let round = 0; round < ROUNDS; round++) {
      for (const [make, results] of [[feedRig, feed] as const, [rawRig, raw] as const]) {
        const rig = await make();
        results.push(await measure(rig, clients));
        rig.close();
      }
    }
    const of = (results: typeof feed, name: keyof (typeof feed)[number]) => median(results.map((each) => each[name]));
    const share = of(feed, "perCpuSecond") / of(raw, "perCpuSecond");
    const thousands = (value: number) => `${(value / 1000).toFixed(0)}k`;
    console.log(
      `${String(clients).padStart(5)} clients: event to client p50 ${of(feed, "p50").toFixed(2)}, p99 ${of(feed, "p99").toFixed(2)} ms ` +
        `(plain writes ${of(raw, "p50").toFixed(2)} / ${of(raw, "p99").toFixed(2)}); ` +
        `${thousands(of(feed, "perCpuSecond"))} deliveries per CPU second, share ${share.toFixed(2)}`,
    );
  }
}
