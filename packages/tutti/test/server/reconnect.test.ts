// Clients of a server that is killed repeatedly receive each event of their filter once and in order.
import { once } from "node:events";
import type { ChildProcess } from "node:child_process";
import { readFileSync } from "node:fs";
import { request, type IncomingMessage } from "node:http";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { afterEach, beforeEach, expect, it } from "vitest";
import { createClient } from "../../src/client/client.ts";
import { followEvents, type FollowOptions } from "../../src/client/follow-events.ts";
import { finished, Lab } from "../lab/lab.ts";
import { lastingPort } from "../lab/lasting-port.ts";
import { SocketFollower, StreamFollower, type LiveFrame } from "./server-lab.ts";

let lab: Lab;
let server: ChildProcess;
let baseUrl = "";
const leaving: (() => void)[] = [];
beforeEach(async () => {
  lab = new Lab();
  await serve(String(await lastingPort()));
});
afterEach(async () => {
  for (const leave of leaving.splice(0)) leave();
  await kill();
  lab.tearDown();
});

async function serve(port: string): Promise<void> {
  server = lab.start(["--json", "serve", "--port", port]);
  const [text] = (await once(server.stdout!.setEncoding("utf8"), "data")) as [string];
  baseUrl = new URL((JSON.parse(text) as { url: string }).url).origin;
}

async function kill(): Promise<void> {
  const end = finished(server);
  server.kill("SIGKILL");
  await end;
}

const token = () => readFileSync(join(lab.data, "token"), "utf8").trim();
const headers = () => ({ authorization: `Bearer ${token()}` });

/** The client of the library, which reconnects by itself. */
function follow(wanted: Partial<FollowOptions>): LiveFrame[] {
  const frames: LiveFrame[] = [];
  const onFrame = (frame: LiveFrame) => void frames.push(frame);
  leaving.push(followEvents({ baseUrl, token: token(), backOffMs: () => 30, onFrame, ...wanted }));
  return frames;
}

/** A hand-written client that reconnects with the last `seq` it received. Returns the events received so far. */
function comeBack(connect: (last: number) => Promise<SocketFollower | StreamFollower>): () => LiveFrame[] {
  const followers: { frames: LiveFrame[] }[] = [];
  const received = () => followers.flatMap(({ frames }) => frames);
  const coming = { over: false };
  void (async () => {
    while (!coming.over) {
      const follower = await connect(received().at(-1)?.seq ?? 0).catch(() => null);
      if (!follower) await sleep(30);
      else {
        followers.push(follower);
        leaving.push(() => follower.leave());
        await follower.closed;
      }
    }
  })();
  leaving.push(() => (coming.over = true));
  return received;
}

/** Resolves when `condition` holds, or after `over`. */
async function until(condition: () => boolean, over: Promise<unknown>): Promise<void> {
  const state = { over: false };
  void over.then(() => (state.over = true));
  while (!condition() && !state.over) await sleep(5);
}

async function openSocket(query: string): Promise<SocketFollower> {
  const socket = new SocketFollower(`${baseUrl.replace("http", "ws")}/api/events${query}`, headers());
  await once(socket.socket, "open");
  return socket;
}

async function openStream(query: string, last: number): Promise<StreamFollower> {
  const resumeHeader = last === 0 ? {} : { "last-event-id": String(last) };
  const asking = request(`${baseUrl}/api/events${query}`, {
    headers: { ...headers(), accept: "text/event-stream", ...resumeHeader },
  });
  asking.end();
  const [response] = (await once(asking, "response")) as [IncomingMessage];
  return new StreamFollower(response);
}

it("A client that reconnects to a killed server misses and repeats no event, whatever its filter is", async () => {
  const client = () => createClient({ baseUrl, token: token() });
  const body = { templateId: "documentation", cwd: lab.repo, message: "never mind", agent: "local" };
  const [mine, other] = [await client().create(body), await client().create(body)].map((run) => run.orchestratorId);
  const ofMine = { type: "subscribe", channel: "orchestrator", orchestratorId: mine };
  const types = ["message:sent", "nothing"];

  const all = follow({ after: 0 });
  const byRun = follow({ after: 0, run: mine! });
  const byTypes = follow({ after: 0, types });
  const byBoth = follow({ after: 0, run: other!, types });
  const tail = follow({ tail: 1, run: mine! });
  const streamed = comeBack((last) => openStream(`?run=${mine}&after=0`, last));
  const streamedTail = comeBack((last) => openStream("?tail=10000", last));
  const subscribed = comeBack(async (last) => {
    const socket = await openSocket(`?after=${last}`);
    const say = (message: object) => Promise.race([socket.say(message), socket.closed]);
    await say(ofMine);
    const later = () => socket.frames.some(({ run, seq }) => run === mine && seq > last);
    // After an unsubscribe it subscribes again when the server dies the next time.
    if (last > 0) void until(later, socket.closed).then(() => say({ ...ofMine, type: "unsubscribe" }));
    return socket;
  });

  // Sends messages to both runs all the time, and repeats one that was not acknowledged.
  const acknowledged: string[] = [];
  const speaking = { over: false };
  const speaker = (async () => {
    for (let i = 0; !speaking.over; i++) {
      const text = `word ${i}`;
      await client()
        .order((i % 2 === 0 ? mine : other)!, "message", { text })
        .then(() => acknowledged.push(text))
        .catch(() => sleep(20));
    }
  })();
  let firstDeath = 0;
  for (let deaths = 0; deaths < 3; deaths++) {
    const countBefore = acknowledged.length;
    while (acknowledged.length < countBefore + 40) await sleep(5);
    await kill();
    firstDeath ||= lab.events().length;
    await serve(new URL(baseUrl).port);
  }
  const countBefore = acknowledged.length;
  while (acknowledged.length < countBefore + 40) await sleep(5);
  speaking.over = true;
  await speaker;

  const log = lab
    .events()
    .map((event): LiveFrame => ({ ...event, timestamp: new Date(event.timestamp).toISOString() }));
  expect(log.map(({ seq }) => seq)).toEqual(log.map((_, i) => i + 1));
  const sentTexts = log.flatMap(({ type, data }) => (type === "message:sent" ? [(data as { text: string }).text] : []));
  expect(sentTexts).toEqual(expect.arrayContaining(acknowledged));

  const ofRun = log.filter(({ run }) => run === mine);
  const ofTypes = log.filter(({ type }) => types.includes(type));
  for (const [received, due] of [
    [() => all, log],
    [() => byRun, ofRun],
    [() => byTypes, ofTypes],
    [() => byBoth, ofTypes.filter(({ run }) => run === other)],
    [streamed, ofRun],
    [streamedTail, log],
  ] as const) {
    while (received().length < due.length) await sleep(20);
    expect(received()).toEqual(due);
  }
  // It started with the event that was the last one at that time.
  while (tail.at(-1)?.seq !== ofRun.at(-1)!.seq) await sleep(20);
  expect(tail).toEqual(ofRun.slice(-tail.length));

  // Its subscription is complete. Before the server read the subscription, events of other runs came too.
  const frames = subscribed();
  expect(new Set(frames.map(({ seq }) => seq)).size).toBe(frames.length);
  const lastSeen = frames.findLast(({ run }) => run === mine)!.seq;
  expect(lastSeen).toBeGreaterThan(firstDeath);
  expect(frames.filter(({ run }) => run === mine)).toEqual(ofRun.filter(({ seq }) => seq <= lastSeen));
});
