// Clients that start with `tail`: the last events, then new ones, each once.
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { ServerLab } from "./server-lab.ts";

let lab: ServerLab;
beforeAll(async () => {
  lab = await ServerLab.open();
});
afterAll(() => lab.tearDown());

const CANCELLED = "orchestrator:cancelled";

async function cancelled(): Promise<string> {
  const id = await lab.create("local");
  await lab.engine.order(id, "cancel");
  await lab.until(id, ({ released }) => released);
  return id;
}

const ways = (query: string) => Promise.all([lab.socket(query), lab.stream(query)]);

describe("the last events", () => {
  it("that match the filter come first, then new ones, over WebSocket and server-sent events", async () => {
    const old = await cancelled();
    await cancelled();
    const spoken = [await lab.create("local"), await lab.create("local")];
    // Several pages of events.
    for (let i = 0; i < 200; i++) await lab.engine.order(spoken[i % 2]!, "message", { text: `word ${i}` });
    const stored = lab.stored();
    const wanted = [
      ["?tail=5", stored.slice(-5)],
      ["?tail=150", stored.slice(-150)],
      ["?tail=10000", stored],
      ["?tail=0", []],
      [`?tail=2&run=${old}`, stored.filter(({ run }) => run === old).slice(-2)],
      [`?tail=80&run=${spoken[0]}`, stored.filter(({ run }) => run === spoken[0]).slice(-80)],
      [`?tail=30&types=${CANCELLED}`, stored.filter(({ type }) => type === CANCELLED).slice(-30)],
      [
        `?tail=1&run=${old}&types=${CANCELLED},nothing`,
        stored.filter(({ run, type }) => run === old && type === CANCELLED),
      ],
      ["?tail=3&types=nothing", []],
    ] as const;
    const followers = [];
    for (const [query, first] of wanted) {
      for (const follower of await ways(query)) followers.push({ query, first, follower });
    }
    await cancelled();
    await lab.engine.order(spoken[0]!, "message", { text: "the last word" });
    const whole = await lab.socket("?tail=1");
    await whole.reached(lab.engine.lastSeq());
    expect(whole.frames).toHaveLength(1);
    const later = lab.stored().slice(stored.length);
    for (const { query, first, follower } of followers) {
      const { run, types } = Object.fromEntries(new URLSearchParams(query)) as { run?: string; types?: string };
      const due = later.filter(
        (frame) => (!run || frame.run === run) && (!types || types.split(",").includes(frame.type)),
      );
      const expected = [...first, ...due];
      await follower.until((frames) => frames.length >= expected.length);
      expect([query, follower.frames]).toEqual([query, expected]);
    }
  });

  it("are not repeated to a browser that reconnects; it continues after its last event", async () => {
    const last = lab.engine.lastSeq();
    await cancelled();
    const stream = await lab.stream("?tail=1", { "last-event-id": String(last) });
    await stream.reached(lab.engine.lastSeq());
    expect(stream.frames).toEqual(lab.stored().slice(last));
  });

  it.each(["?tail=-1", "?tail=all", "?tail=10001", "?tail=5&after=3", "?tail=0&after=0"])(
    "return 400 for %s",
    async (query) => {
      const { status, json } = await lab.api(`/api/events${query}`, { headers: { accept: "text/event-stream" } });
      expect([status, json.error.code]).toEqual([400, "invalid_input"]);
      expect((await lab.refusedSocket(`/api/events${query}`, lab.bearer)).status).toBe(400);
    },
  );
});
