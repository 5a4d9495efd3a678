// Live events equal the log over WebSocket and server-sent events, also across reconnects.
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { once } from "node:events";
import { goodWorker, mainSession } from "../lab/scenarios.ts";
import { ServerLab } from "./server-lab.ts";

let lab: ServerLab;
let agent: string;
beforeAll(async () => {
  lab = await ServerLab.open();
  agent = lab.lab.scenario([...mainSession([{ id: "a" }, { id: "b" }]), goodWorker]);
});
afterAll(() => lab.tearDown());

const upTo = (last: number, from = 0) => Array.from({ length: last - from }, (_, i) => from + i + 1);

/** Creates and cancels many runs at once. */
async function burst(runs: number): Promise<number> {
  const request = { templateId: "documentation", cwd: lab.lab.repo, message: "never mind", agent };
  for (let i = 0; i < runs; i += 10) {
    const some = Array.from({ length: Math.min(10, runs - i) }, async () => {
      const { id } = await lab.engine.create(request);
      await lab.engine.order(id, "cancel");
      await lab.engine.until(id, ({ released }) => released);
    });
    await Promise.all(some);
  }
  return lab.engine.lastSeq();
}

describe("a whole run", () => {
  it("followed over WebSocket and over server-sent events is the stored log", async () => {
    const [socket, stream] = [await lab.socket("?after=0"), await lab.stream("?after=0")];
    const id = await lab.create(agent, { autoStart: true });
    await socket.until((frames) => frames.some(({ type }) => type === "orchestrator:tasksReady"));
    await lab.post(`/api/orchestrator/${id}/confirm-tasks`);
    for (const follower of [socket, stream]) {
      await follower.until((frames) => frames.at(-1)?.type === "workspace:released");
      expect(follower.frames).toEqual(lab.stored());
    }
    expect(stream.ids).toEqual(lab.stored().map(({ seq }) => String(seq)));
    expect(stream.response.headers["content-type"]).toBe("text/event-stream; charset=utf-8");
    expect(socket.frames[0]).toEqual({
      seq: 1,
      run: id,
      runSeq: 1,
      type: "orchestrator:created",
      data: expect.objectContaining({ id, templateId: "documentation", cwd: lab.lab.repo, status: "created" }),
      timestamp: expect.stringMatching(/^\d{4}-\d\d-\d\dT.*Z$/),
    });
    expect((await lab.api(`/api/orchestrator/${id}/events`)).json).toEqual(socket.frames);
  });
});

describe("the starting point of a client", () => {
  it("is now, unless `after` names its last event", async () => {
    const lastBefore = await burst(5);
    const [socket, stream] = [await lab.socket(), await lab.stream()];
    const [late, lateStream] = [
      await lab.socket(`?after=${lastBefore - 3}`),
      await lab.stream(`?after=${lastBefore - 3}`),
    ];
    const last = await burst(1);
    for (const follower of [socket, stream]) {
      await follower.reached(last);
      expect(follower.seqs()).toEqual(upTo(last, lastBefore));
    }
    for (const follower of [late, lateStream]) {
      await follower.reached(last);
      expect(follower.seqs()).toEqual(upTo(last, lastBefore - 3));
    }
  });

  it("is Last-Event-ID if it is sent, whatever the URL that a browser repeats says", async () => {
    const last = await burst(1);
    const stream = await lab.stream("?after=0", { "last-event-id": String(last - 2) });
    await stream.reached(last);
    expect(stream.seqs()).toEqual([last - 1, last]);
  });

  it.each(["?after=-1", "?after=now", "?after=1.5", "?run="])("returns 400 for %s", async (query) => {
    const { status, json } = await lab.api(`/api/events${query}`, { headers: { accept: "text/event-stream" } });
    expect([status, json.error.code]).toEqual([400, "invalid_input"]);
  });

  it("returns 400 without a WebSocket and without Accept", async () => {
    expect((await lab.api("/api/events")).status).toBe(400);
    expect((await lab.api("/api/events", { method: "HEAD", headers: { accept: "text/event-stream" } })).status).toBe(
      400,
    );
  });
});

describe("a client misses and repeats no event", () => {
  it("between stored and new events, whenever it connects", async () => {
    await burst(40);
    const work = burst(30);
    const followers = [];
    for (let i = 0; i < 24; i++) {
      const after = Math.floor((lab.engine.lastSeq() * i) / 24);
      followers.push({
        after,
        follower: await (i % 2 ? lab.socket(`?after=${after}`) : lab.stream(`?after=${after}`)),
      });
    }
    const last = await work;
    for (const { after, follower } of followers) {
      await follower.reached(last);
      expect(follower.seqs()).toEqual(upTo(last, after));
    }
  });

  it("when it reconnects again and again while events arrive", async () => {
    const work = burst(20);
    const received: number[] = [];
    const made = { all: false };
    void work.then(() => (made.all = true));
    while (!made.all || received.at(-1) !== lab.engine.lastSeq()) {
      const after = received.at(-1) ?? 0;
      const follower = await lab.socket(`?after=${after}`);
      await follower.until((frames) => frames.length > 0);
      follower.leave();
      await follower.closed;
      received.push(...follower.seqs());
    }
    expect(received).toEqual(upTo(await work));
  });

  it("across a restart of the server on the same data", async () => {
    const first = await lab.socket("?after=0");
    await first.reached(await burst(3));
    await lab.stop();
    expect(await first.closed).toBe(1001);
    await lab.start();
    const second = await lab.socket(`?after=${first.seqs().at(-1)}`);
    const last = await burst(3);
    await second.reached(last);
    expect([...first.seqs(), ...second.seqs()]).toEqual(upTo(last));
    expect([...first.frames, ...second.frames]).toEqual(lab.stored());
  });
});

describe("the filter of a client", () => {
  it("selects stored and new events by run and by type", async () => {
    const [mine, other] = [await lab.create(agent), await lab.create(agent)];
    const queries = [
      `?run=${mine}`,
      "?types=orchestrator:cancelled,orchestrator:created",
      `?run=${mine}&types=nothing`,
    ];
    const followers = await Promise.all(
      queries.flatMap((query) => [lab.socket(`${query}&after=0`), lab.stream(`${query}&after=0`)]),
    );
    for (const id of [mine, other]) {
      await lab.engine.order(id, "cancel");
      await lab.until(id, ({ released }) => released);
    }
    const whole = await lab.socket("?after=0");
    await whole.reached(lab.engine.lastSeq());
    const log = lab.stored();
    const ofRun = log.filter(({ run }) => run === mine);
    const ofTypes = log.filter(({ type }) => ["orchestrator:cancelled", "orchestrator:created"].includes(type));
    const [byRun, byRunStream, byTypes, byTypesStream, none, noneStream] = followers;
    for (const [follower, frames] of [
      [byRun, ofRun],
      [byRunStream, ofRun],
      [byTypes, ofTypes],
      [byTypesStream, ofTypes],
    ] as const) {
      await follower!.reached(frames.at(-1)!.seq);
      expect(follower!.frames).toEqual(frames);
    }
    expect([none!.frames, noneStream!.frames]).toEqual([[], []]);
  });

  it("is narrowed by the first subscription and changed by later ones", async () => {
    const ids = [await lab.create(agent), await lab.create(agent), await lab.create(agent)] as const;
    const [a, b, c] = ids;
    const say = (type: string, orchestratorId: string) => ({ type, channel: "orchestrator", orchestratorId });
    const follower = await lab.socket();
    await follower.say(say("unsubscribe", a));
    const everything = await lab.create(agent);
    await follower.until((frames) => frames.length === 1);
    await follower.say(say("subscribe", a));
    await follower.say(say("subscribe", b));
    await follower.say(say("unsubscribe", b));
    for (const id of [c, b, a]) {
      await lab.engine.order(id, "cancel");
      await lab.until(id, ({ released }) => released);
    }
    await follower.until((frames) => frames.some(({ run, type }) => run === a && type === "workspace:released"));
    expect(new Set(follower.frames.map(({ run }) => run))).toEqual(new Set([everything, a]));
    await follower.say(say("unsubscribe", a));
    await burst(2);
    await follower.say(say("subscribe", "orch_nobody"));
    expect(follower.frames.at(-1)!.run).toBe(a);
  });
});

describe("a WebSocket message", () => {
  it.each([
    ["not JSON", "{{{"],
    ["not an object", "[1]"],
    ["null", "null"],
    ["of an unknown type", { type: "shout", channel: "orchestrator", orchestratorId: "x" }],
    ["for an unknown channel", { type: "subscribe", channel: "moon", orchestratorId: "x" }],
    ["without a run", { type: "subscribe", channel: "orchestrator" }],
    ["with a run id that is too long", { type: "subscribe", channel: "orchestrator", orchestratorId: "x".repeat(101) }],
    ["binary", Buffer.from([0, 255, 1])],
  ])("that is %s is ignored", async (_, message) => {
    const follower = await lab.socket();
    await follower.say(message);
    const last = await burst(1);
    await follower.reached(last);
    expect(follower.seqs().length).toBeGreaterThan(0);
  });

  it("that subscribes to more than 10,000 runs closes only its own socket", async () => {
    const [greedy, other] = [await lab.socket(), await lab.socket()];
    for (let i = 0; i <= 10_000; i++) {
      const message = { type: "subscribe", channel: "orchestrator", orchestratorId: `orch_${i}` };
      greedy.socket.send(JSON.stringify(message));
    }
    // A socket that stays open answers a ping.
    expect(await Promise.race([greedy.closed, greedy.say("{}")])).toBe(1008);
    await other.reached(await burst(1));
  });

  it("that is too large or violates the protocol closes only its own socket", async () => {
    const [large, broken, other] = [await lab.socket(), await lab.socket(), await lab.socket()];
    large.socket.send("x".repeat(1024 * 1024 + 1));
    expect(await Promise.race([large.closed, large.say("{}")])).toBe(1009);
    // An illegal frame, written directly to the connection.
    (broken.socket as unknown as { _socket: { write(bytes: Buffer): void } })._socket.write(Buffer.from([0xff, 0xff]));
    expect(await broken.closed).toBe(1002);
    await other.reached(await burst(1));
  });
});

describe("a quiet connection", () => {
  it("gets a heartbeat every 15 seconds, and a socket that does not answer is cut off", async () => {
    vi.useFakeTimers({ toFake: ["setInterval", "clearInterval"] });
    try {
      await lab.stop();
      await lab.start();
      const [deaf, stream, socket] = [await lab.socket(), await lab.stream(), await lab.socket()];
      // Drops its pongs.
      deaf.socket.pong = () => {};
      for (let beat = 1; beat <= 3; beat++) {
        const pinged = once(socket.socket, "ping");
        vi.advanceTimersByTime(15_000);
        await pinged;
        await socket.say("{}");
        await expect.poll(() => stream.comments).toHaveLength(beat);
      }
      await expect.poll(() => deaf.socket.readyState, { timeout: 300_000 }).toBe(deaf.socket.CLOSED);
      expect(socket.socket.readyState).toBe(socket.socket.OPEN);
    } finally {
      vi.useRealTimers();
    }
  });
});

describe("the shutdown of the server", () => {
  it("closes every connection at once and can be requested twice", async () => {
    const [socket, stream] = [await lab.socket("?after=0"), await lab.stream("?after=0")];
    // The grace period for open requests never ends here, so that only an immediate close resolves.
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
    try {
      await Promise.all([lab.server.close(), lab.server.close()]);
    } finally {
      vi.useRealTimers();
    }
    expect(await socket.closed).toBe(1001);
    await stream.closed;
    await expect(lab.api("/api/health")).rejects.toThrow("ECONNREFUSED");
  });
});
