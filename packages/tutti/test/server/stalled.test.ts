// Clients that do not read are cut off without an effect on others.
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { goodWorker, mainSession } from "../lab/scenarios.ts";
import { ServerLab } from "./server-lab.ts";

let lab: ServerLab;
let agent: string;
beforeEach(async () => {
  lab = await ServerLab.open();
  agent = lab.lab.scenario([...mainSession([{ id: "a" }]), goodWorker]);
});
afterEach(() => lab.tearDown());

const LARGE = "x".repeat(900 * 1024);

/** Events of nearly 1 MiB each. */
async function flood(events: number): Promise<number> {
  for (let i = 0; i < events; i++) {
    await lab.engine.create({ templateId: "documentation", cwd: lab.lab.repo, message: LARGE, agent });
  }
  return lab.engine.lastSeq();
}

describe("a client that does not read", () => {
  it("holds at most a page of new events while another client gets every event, and gets the rest when it reads", async () => {
    const [stalled, stalledStream, other] = [await lab.socket(), await lab.stream(), await lab.socket()];
    stalled.socket.pause();
    stalledStream.response.pause();
    const last = await flood(30);
    await other.reached(last);
    expect(other.frames).toHaveLength(last);
    stalled.socket.resume();
    stalledStream.response.resume();
    await Promise.all([stalled.reached(last), stalledStream.reached(last)]);
    for (const follower of [stalled, stalledStream]) expect(follower.seqs()).toEqual(other.seqs());
  });

  it("gets at most one page of stored events and is cut off after 20 seconds", async () => {
    const last = await flood(80);
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
    try {
      // Each client stops to read before the next one connects, which takes long under load.
      const stalled = await lab.socket("?after=0");
      stalled.socket.pause();
      const stalledStream = await lab.stream("?after=0");
      stalledStream.response.pause();
      const other = await lab.socket("?after=0");
      await other.reached(last);
      expect(other.frames).toHaveLength(80);
      vi.advanceTimersByTime(20_000);
      stalled.socket.resume();
      stalledStream.response.resume();
      // A client that was not cut off gets everything now.
      await Promise.allSettled([stalled.reached(last), stalledStream.reached(last)]);
      for (const follower of [stalled, stalledStream]) {
        const seen = follower.seqs();
        expect(seen).toEqual(seen.map((_, i) => i + 1));
        expect(seen.length).toBeLessThan(20);
        const back = await lab.socket(`?after=${seen.length}`);
        await back.reached(last);
        expect([...seen, ...back.seqs()]).toEqual(other.seqs());
      }
    } finally {
      vi.useRealTimers();
    }
  });

  it.each(["", "/snapshot"])("makes later answers wait for the end of its own large one: %j", async (path) => {
    const { id } = await lab.engine.create({ templateId: "documentation", cwd: lab.lab.repo, message: LARGE, agent });
    for (let i = 0; i < 9; i++) await lab.engine.order(id, "message", { text: LARGE });
    const open = () => lab.open(`/api/orchestrator/${id}${path}`, { headers: lab.bearer });
    // Together they are below the limit of all unread answers, which would cut off no client.
    const stalled = await Promise.all(Array.from({ length: 6 }, open));
    const text = (await (await open()).toArray()).join("");
    expect(JSON.parse(text)).toBeTypeOf("object");
    const endings = await Promise.allSettled(stalled.map((response) => response.toArray()));
    expect(endings.map(({ status }) => status)).toContain("rejected");
  });

  it("but sends pings gets an answer to the last of them, and not to all", async () => {
    const { socket } = await lab.socket();
    socket.pause();
    // Far more bytes than the buffers of a connection.
    const count = 300_000;
    const data = Buffer.alloc(125);
    for (let i = 1; i <= count; i++) {
      data.writeUInt32BE(i);
      if (i % 1000 > 0) socket.ping(Buffer.from(data));
      else await new Promise((resolve) => socket.ping(Buffer.from(data), true, resolve));
    }
    let answers = 0;
    let last = 0;
    socket.on("pong", (answer) => {
      answers += 1;
      last = answer.readUInt32BE();
    });
    socket.resume();
    await expect.poll(() => last).toBe(count);
    expect(answers).toBeLessThan(count / 2);
  });

  it("does not block the shutdown of the server", async () => {
    const [stalled, stalledStream] = [await lab.socket(), await lab.stream()];
    stalled.socket.pause();
    stalledStream.response.pause();
    await flood(10);
    // Resolves although both clients keep their connections open.
    await lab.server.close();
  });
});
