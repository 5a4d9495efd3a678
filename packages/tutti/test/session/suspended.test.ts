// A session that Tutti ended before its work was done: a new process resumes the conversation.
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { pathWith } from "./played-program.ts";
import { listen, SessionLab, texts, turn } from "./session-lab.ts";
import type { Session, SessionHost, SessionSignal, SessionSpec } from "../../src/session/session.ts";

let lab: SessionLab;
let host: SessionHost;
beforeEach(() => {
  lab = new SessionLab();
});
afterEach(() => lab.tearDown());

const AGENTS = ["claude", "codex"] as const;
const isAsk = ({ type }: SessionSignal): boolean => type === "ask";

/** Opens a session of the agent and ends it while it waits for the answer to a permission. */
async function suspend(agent: (typeof AGENTS)[number]): Promise<SessionSpec> {
  host = lab.newHost({ agentEnv: { PATH: pathWith(agent, lab.folder) } });
  const spec = lab.spec(agent);
  const session = host.open(spec);
  await listen(session, isAsk, async ({ type }) => {
    if (type === "ready") await session.deliver(turn(1, "use 10 5\nrun echo one"));
  });
  session.leave();
  await host.reap(spec.runId, []);
  expect(lab.processes()).toEqual([]);
  return spec;
}

const ofType = (signals: SessionSignal[], type: SessionSignal["type"]) =>
  signals.filter((signal) => signal.type === type);

async function goOn(session: Session, text: string): Promise<SessionSignal[]> {
  return listen(
    session,
    (signal) => signal.type === "gone" || (signal.type === "turnOver" && signal.turn === 2),
    async (signal) => {
      if (signal.type === "suspended") session.revive!();
      if (signal.type === "revived") await session.deliver(turn(2, text));
      if (signal.type === "ask") await session.answer(signal.askId, "allow");
    },
  );
}

describe.each(AGENTS)("A suspended session of %s", (agent) => {
  it("is resumed in the same conversation when it is revived, and its open turn was cut off", async () => {
    const startedAt = Date.now();
    const spec = await suspend(agent);
    const session = host.open(spec);
    const signals = await goOn(session, "hang\nsay after all\nuse 1 1");
    const { since } = ofType(signals, "suspended")[0] as Extract<SessionSignal, { type: "suspended" }>;
    expect(since).toBeGreaterThanOrEqual(startedAt);
    expect(since).toBeLessThanOrEqual(Date.now());
    expect(ofType(signals, "turnOver")).toMatchObject([
      { turn: 1, ending: { kind: "interrupted" }, cutOff: true },
      { turn: 2, ending: { kind: "ended" } },
    ]);
    // The program of the test hangs only in a new conversation.
    expect(texts(signals)).toContain("after all");
    const conversations = signals.flatMap((signal) => (signal.type === "agent" ? [signal.conversation] : []));
    expect(new Set(conversations).size).toBe(1);
    await session.stop();
  });

  it("does not pass the answer to an old question on to a new one with the same name", async () => {
    const spec = await suspend(agent);
    const session = host.open(spec);
    const asked: string[] = [];
    const signals = await listen(
      session,
      (signal) => signal.type === "turnOver" && signal.turn === 2,
      async (signal) => {
        if (signal.type === "ask") asked.push(signal.askId);
        if (signal.type === "suspended") session.revive!();
        if (signal.type === "revived") {
          expect(session.wasAnswered!(asked[0]!)).toBe(false);
          await session.answer(asked[0]!, "allow");
          expect(session.wasAnswered!(asked[0]!)).toBe(true);
          await session.deliver(turn(2, "run echo two"));
        }
        if (signal.type === "ask" && asked.length === 2) await session.answer(signal.askId, "refuse");
      },
    );
    expect(new Set(asked).size).toBe(2);
    expect(ofType(signals, "tool").length).toBe(ofType(signals, "toolFailed").length);
    await session.stop();
  });
});

describe("A suspended session", () => {
  it("needs no process until it is revived, and a second engine finds it suspended again", async () => {
    const spec = await suspend("claude");
    for (let i = 0; i < 2; i++) {
      const session = host.open(spec);
      const signals = await listen(session, ({ type }) => type === "caughtUp");
      expect(signals.at(-2)?.type).toBe("suspended");
      session.leave();
      expect(lab.processes()).toEqual([]);
    }
  });

  it("can be suspended again after it was revived", async () => {
    const spec = await suspend("claude");
    const revived = host.open(spec);
    let asks = 0;
    await listen(
      revived,
      (signal) => signal.type === "ask" && ++asks === 2,
      async (signal) => {
        if (signal.type === "suspended") revived.revive!();
        if (signal.type === "revived") await revived.deliver(turn(2, "run echo two"));
      },
    );
    revived.leave();
    await host.reap(spec.runId, []);
    const session = host.open(spec);
    let revivals = 0;
    const signals = await listen(
      session,
      (signal) => signal.type === "turnOver" && signal.turn === 3,
      async (signal) => {
        if (signal.type === "suspended") session.revive!();
        if (signal.type === "revived" && ++revivals === 2) await session.deliver(turn(3, "say third"));
      },
    );
    expect(texts(signals)).toContain("third");
    await session.stop();
  });

  it("that has never begun a turn, and one of an agent that cannot resume, are gone", async () => {
    host = lab.newHost({ agentEnv: { PATH: pathWith("claude", lab.folder) } });
    const scripted = lab.scenario([{ turns: [{ then: "ask:Which?" }] }]);
    for (const [agent, until] of [
      ["claude", "ready"],
      [scripted, "ask"],
    ] as const) {
      const spec = lab.spec(agent);
      const session = host.open(spec);
      await listen(
        session,
        ({ type }) => type === until,
        async ({ type }) => {
          if (type === "ready" && until === "ask") await session.deliver(turn(1));
        },
      );
      session.leave();
      await host.reap(spec.runId, []);
      const signals = await listen(host.open(spec), () => false);
      expect(signals.at(-1)).toEqual({ type: "gone", reason: "it was stopped", deliberate: true });
    }
  });
});
