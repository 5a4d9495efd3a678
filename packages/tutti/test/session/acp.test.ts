// Agents of the Agent Client Protocol as real processes under real keepers.
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { listen, oneTurn, SessionLab, texts, turn } from "./session-lab.ts";
import type { Session, SessionSignal } from "../../src/session/session.ts";

const PROGRAM = fileURLToPath(new URL("../lab/agents/acp.ts", import.meta.url));
const READY = { agent: "lab-agent", version: "1.2.3", conversation: "conversation-1" };

let lab: SessionLab;
beforeEach(() => {
  lab = new SessionLab();
});
afterEach(() => lab.tearDown());

const open = (flags = ""): Session => lab.host.open(lab.spec(`acp:${process.execPath} ${PROGRAM} ${flags}`));

/** Delivers a turn and returns what was told of it. */
async function ask(
  session: Session,
  number: number,
  text: string,
  onSignal: (signal: SessionSignal) => unknown = () => {},
): Promise<SessionSignal[]> {
  await session.deliver(turn(number, text));
  const heard = await listen(
    session,
    (signal) => (signal.type === "turnOver" && signal.turn === number) || signal.type === "gone",
    onSignal,
  );
  return heard.slice(heard.findIndex((signal) => signal.type === "sent" && signal.turn === number));
}

const endingOf = (heard: SessionSignal[]) =>
  heard.flatMap((each) => (each.type === "turnOver" ? [each.ending] : []))[0];
const ofType = <T extends SessionSignal["type"]>(heard: SessionSignal[], type: T) =>
  heard.filter((signal): signal is Extract<SessionSignal, { type: T }> => signal.type === type);

describe("an acp: agent", () => {
  test("tells who it is, and answers turns with words, tools and what they cost", async () => {
    const session = open();
    const first = await oneTurn(session, turn(1, "say <<<A>>> {…} 🎼"));
    const capabilities = { partialText: true, interrupt: true, resume: true, permissions: true, subagents: false };
    expect(ofType(first, "agent")[0]).toMatchObject({ ...READY, capabilities });
    expect(texts(first)).toBe("<<<A>>> {…} 🎼");
    expect(ofType(first, "partial").length).toBeGreaterThan(2);
    expect(ofType(first, "usage")).toEqual([{ type: "usage", usage: { inputTokens: 10, outputTokens: 2, usd: 0 } }]);
    expect(endingOf(first)).toEqual({ kind: "ended", detail: "the turn ended" });

    const second = await ask(session, 2, "say I write.\nwrite a.txt\nsay Done.");
    expect(second.filter(({ type }) => type === "text" || type === "tool")).toMatchObject([
      { type: "text", text: "I write.", complete: true },
      { type: "tool", name: "Edit", input: { title: "Write a.txt", paths: [join(lab.cwd, "a.txt")] } },
      { type: "text", text: "a.txt: once\nDone.", complete: true },
    ]);
    expect(readFileSync(join(lab.cwd, "a.txt"), "utf8")).toBe("written\n");
  });

  test("whose turn fails says why, and takes the next one", async () => {
    const session = open();
    const ending = endingOf(await oneTurn(session, turn(1, "fail 429 slow down, retry in 3s")));
    expect(ending).toEqual({
      kind: "error",
      detail: "slow down, retry in 3s",
      cause: "rate_limit",
      retryAfterMs: 3000,
    });
    expect(texts(await ask(session, 2, "say well"))).toBe("well");
  });

  test("asks a person where the settings leave it open, and does what the person says", async () => {
    const session = open();
    const answers = ["Yes", "rather not", "yes please"];
    const heard = await listen(
      session,
      ({ type }) => type === "turnOver",
      async (signal) => {
        if (signal.type === "ready") await session.deliver(turn(1, "write ../b\nwrite ../c\nwrite ../d\nwrite e"));
        if (signal.type === "ask") await session.answer(signal.askId, answers.shift()!);
      },
    );
    const outside = join(lab.folder, "b");
    expect(ofType(heard, "ask")[0]).toMatchObject({
      question: `May the agent use Edit: ${outside}?`,
      options: ["Yes", "Always", "No"],
      permission: { tool: "Edit", subject: outside },
    });
    expect(texts(heard)).toBe("../b: once\n../c: never\n../d: once\ne: once\n");
    // The one that was refused was not used.
    expect(ofType(heard, "tool")).toHaveLength(3);
    expect(existsSync(join(lab.folder, "c"))).toBe(false);
  });

  test("that cannot take its conversation up again has failed its turn", async () => {
    const forgetful = open("--forgetful");
    const heard = await oneTurn(forgetful, turn(1, "say half an answ\ndie"));
    expect(texts(heard)).toBe("half an answ");
    expect(endingOf(heard)).toMatchObject({
      kind: "exited",
      detail: "the agent exited with 3 in the middle of its turn",
    });

    const confused = open("--confused");
    await oneTurn(confused, turn(1, "say before"));
    const lost = await ask(confused, 2, "die\nsay after");
    expect(endingOf(lost)).toMatchObject({
      kind: "error",
      detail: expect.stringMatching(/could not be resumed/) as string,
    });
    // It has a new conversation then.
    expect(texts(await ask(confused, 3, "say well"))).toBe("well");
  });

  test("that dies in its first turn and has lost it begins anew, for nothing else was said", async () => {
    const heard = await oneTurn(open("--confused"), turn(1, "die\nsay after"));
    expect(texts(heard)).toBe("after");
    expect(endingOf(heard)).toMatchObject({ kind: "ended" });
  });

  test("that answers and exits at once has answered", async () => {
    const session = open();
    const heard = await oneTurn(session, turn(1, "answer-and-die"));
    expect(texts(heard)).toBe("my last words");
    expect(endingOf(heard)).toMatchObject({ kind: "ended" });
  });

  test("that breaks the rules gets no file and no terminal, and harms nobody", async () => {
    const session = open();
    const heard = await oneTurn(session, turn(1, "say before\nmisbehave"));
    expect(texts(heard)).toBe("beforerefused with -32601 -32601 -32601");
    expect(endingOf(heard)).toMatchObject({ kind: "ended" });
    expect(texts(await ask(session, 2, "say well"))).toBe("well");
    await session.close();
    expect(lab.processes()).toEqual([]);
  });
});

describe("an acp: agent that cannot be used", () => {
  const reason = async (session: Session) => {
    const heard = await listen(session, ({ type }) => type === "gone");
    return ofType(heard, "unstartable").map(({ error }) => error);
  };

  test.each([
    ["speaks no protocol at all", "cat", /does not seem to support the Agent Client Protocol/],
    ["ends at once", `${process.execPath} --no-such-flag`, /it exited with 9 before it was ready: .*bad option/],
  ])("because it %s says so", async (_, command, expected) => {
    const [error, ...more] = await reason(lab.host.open(lab.spec(`acp:${command}`)));
    expect(error).toMatch(expected);
    expect(more).toEqual([]);
    // The keeper says so shortly before it exits.
    await expect.poll(() => lab.processes()).toEqual([]);
  });
});
