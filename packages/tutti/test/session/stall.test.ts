// An agent whose connection has died says nothing and does nothing. It must not be waited for until its time is over,
// and one that only works for long must be left alone.
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

describe("an agent that shows every step", () => {
  it("is ended when nothing of it moves, and its conversation is taken up again once, in the same turn", async () => {
    const session = open(1500);
    const heard = await oneTurn(session, turn(1, "say I begin.\nhang\nsay done after all"));
    expect(heard).toContainEqual({ type: "stalled", detail: expect.stringContaining("the agent showed no activity") });
    expect(texts(heard)).toContain("done after all");
    expect(heard.at(-1)).toMatchObject({ type: "turnOver", turn: 1, ending: { kind: "ended" } });
    await session.stop();
    expect(lab.processes()).toEqual([]);
  });

  it("that was asked to stop and did not listen is not given its turn again", async () => {
    const session = open(1500);
    const heard = await listen(
      session,
      ({ type }) => type === "turnOver" || type === "gone",
      async (signal) => {
        if (signal.type === "ready") await session.deliver(turn(1, "say I begin.\nhang\nsay done after all"));
        if (signal.type !== "text") return;
        for (const pid of findMarked("TUTTI_SESSION_KEY", session.sessionId)) process.kill(pid, "SIGSTOP");
        await session.interrupt(1);
      },
    );
    expect(texts(heard)).not.toContain("done after all");
    expect(heard.at(-1)).toMatchObject({ type: "turnOver", turn: 1, ending: { kind: "interrupted" } });
    await session.stop();
  });

  it("has failed when it stands still again, and says why", async () => {
    const session = open(900);
    const heard = await oneTurn(session, turn(1, "say I begin.\nhang for ever"));
    expect(heard.filter(({ type }) => type === "stalled")).toHaveLength(2);
    expect(heard.at(-1)).toMatchObject({ type: "turnOver", ending: { kind: "exited", cause: "stalled" } });
    await session.stop();
  });

  it("is left alone while a command of its own is at work, however long it says nothing", async () => {
    const session = open(1500);
    // Four seconds of work in another process, and not a word.
    const heard = await oneTurn(session, turn(1, "work 4000\nsay worked for long"));
    expect(heard.some(({ type }) => type === "stalled")).toBe(false);
    expect(texts(heard)).toContain("worked for long");
    await session.stop();
  });
});
