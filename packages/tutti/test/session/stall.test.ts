// An agent whose connection died must not occupy its slot until its timeout, and a busy one must keep running.
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { pathWith } from "./played-program.ts";
import { findMarked } from "../../src/session/process.ts";
import { listen, oneTurn, SessionLab, texts, turn } from "./session-lab.ts";

let lab: SessionLab;
beforeEach(() => {
  lab = new SessionLab();
});
afterEach(() => lab.tearDown());

const open = (stallTimeout: number) => {
  const host = lab.newHost({ agentEnv: { PATH: pathWith("claude", lab.folder) } });
  return host.open(lab.spec("claude", { stallTimeout }));
};

describe("An agent with a dialogue", () => {
  it("is killed when it stalls, and its conversation is resumed once, in the same turn", async () => {
    const session = open(1500);
    const signals = await oneTurn(session, turn(1, "say I begin.\nhang\nsay done after all"));
    expect(signals).toContainEqual({
      type: "stalled",
      detail: expect.stringContaining("the agent showed no activity"),
    });
    expect(texts(signals)).toContain("done after all");
    expect(signals.at(-1)).toMatchObject({ type: "turnOver", turn: 1, ending: { kind: "ended" } });
    await session.stop();
    expect(lab.processes()).toEqual([]);
  });

  it("that ignored an interrupt does not receive its turn again", async () => {
    const session = open(1500);
    const signals = await listen(
      session,
      ({ type }) => type === "turnOver" || type === "gone",
      async (signal) => {
        if (signal.type === "ready") await session.deliver(turn(1, "say I begin.\nhang\nsay done after all"));
        if (signal.type !== "text") return;
        for (const pid of findMarked("TUTTI_SESSION_KEY", session.sessionId)) process.kill(pid, "SIGSTOP");
        await session.interrupt(1);
      },
    );
    expect(texts(signals)).not.toContain("done after all");
    expect(signals.at(-1)).toMatchObject({ type: "turnOver", turn: 1, ending: { kind: "interrupted" } });
    await session.stop();
  });

  it("fails with the reason when it stalls again", async () => {
    const session = open(900);
    const signals = await oneTurn(session, turn(1, "say I begin.\nhang for ever"));
    expect(signals.filter(({ type }) => type === "stalled")).toHaveLength(2);
    expect(signals.at(-1)).toMatchObject({ type: "turnOver", ending: { kind: "exited", cause: "stalled" } });
    await session.stop();
  });

  it("keeps running while one of its commands works, even without output", async () => {
    const session = open(1500);
    // Four seconds of work in another process, without output.
    const signals = await oneTurn(session, turn(1, "work 4000\nsay worked for long"));
    expect(signals.some(({ type }) => type === "stalled")).toBe(false);
    expect(texts(signals)).toContain("worked for long");
    await session.stop();
  });
});
