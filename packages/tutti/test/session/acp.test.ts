// ACP agents as real processes under real keepers.
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { programOf } from "../lab/program-of.ts";
import { listen, oneTurn, SessionLab, texts, turn } from "./session-lab.ts";
import type { Session, SessionSignal } from "../../src/session/session.ts";

const PROGRAM = programOf("acp.ts");
const READY = { agent: "lab-agent", version: "1.2.3", conversation: "conversation-1" };

let lab: SessionLab;
beforeEach(() => {
  lab = new SessionLab();
});
afterEach(() => lab.tearDown());

const open = (flags = ""): Session => lab.host.open(lab.spec(`acp:${process.execPath} ${PROGRAM} ${flags}`));

/** Delivers a turn and returns its signals. */
async function ask(
  session: Session,
  number: number,
  text: string,
  onSignal: (signal: SessionSignal) => unknown = () => {},
): Promise<SessionSignal[]> {
  await session.deliver(turn(number, text));
  const signals = await listen(
    session,
    (signal) => (signal.type === "turnOver" && signal.turn === number) || signal.type === "gone",
    onSignal,
  );
  return signals.slice(signals.findIndex((signal) => signal.type === "sent" && signal.turn === number));
}

const endingOf = (signals: SessionSignal[]) =>
  signals.flatMap((each) => (each.type === "turnOver" ? [each.ending] : []))[0];
const ofType = <T extends SessionSignal["type"]>(signals: SessionSignal[], type: T) =>
  signals.filter((signal): signal is Extract<SessionSignal, { type: T }> => signal.type === type);

describe("An acp: agent", () => {
  test("reports its name and answers turns with text, tools and usage", async () => {
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

  test("whose turn fails reports the reason and accepts the next turn", async () => {
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

  test("asks the user where the permissions do not decide, and follows the answer", async () => {
    const session = open();
    const answers = ["Yes", "rather not", "yes please"];
    const signals = await listen(
      session,
      ({ type }) => type === "turnOver",
      async (signal) => {
        if (signal.type === "ready") await session.deliver(turn(1, "write ../b\nwrite ../c\nwrite ../d\nwrite e"));
        if (signal.type === "ask") await session.answer(signal.askId, answers.shift()!);
      },
    );
    const outside = join(lab.folder, "b");
    expect(ofType(signals, "ask")[0]).toMatchObject({
      question: `May the agent use Edit: ${outside}?`,
      options: ["Yes", "Always", "No"],
      permission: { tool: "Edit", subject: outside },
    });
    expect(texts(signals)).toBe("../b: once\n../c: never\n../d: once\ne: once\n");
    // The refused tool was not used.
    expect(ofType(signals, "tool")).toHaveLength(3);
    expect(existsSync(join(lab.folder, "c"))).toBe(false);
  });

  test("that cannot resume its conversation fails its turn", async () => {
    const forgetful = open("--forgetful");
    const signals = await oneTurn(forgetful, turn(1, "say half an answ\ndie"));
    expect(texts(signals)).toBe("half an answ");
    expect(endingOf(signals)).toMatchObject({
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
    // The agent then has a new conversation.
    expect(texts(await ask(confused, 3, "say well"))).toBe("well");
  });

  test("that dies in its first turn and cannot resume starts a new conversation with the same turn", async () => {
    const signals = await oneTurn(open("--confused"), turn(1, "die\nsay after"));
    expect(texts(signals)).toBe("after");
    expect(endingOf(signals)).toMatchObject({ kind: "ended" });
  });

  test("that exits right after its answer has answered", async () => {
    const session = open();
    const signals = await oneTurn(session, turn(1, "answer-and-die"));
    expect(texts(signals)).toBe("my last words");
    expect(endingOf(signals)).toMatchObject({ kind: "ended" });
  });

  test("that violates the protocol gets no file and no terminal, and its session continues", async () => {
    const session = open();
    const signals = await oneTurn(session, turn(1, "say before\nmisbehave"));
    // Of the message that is too long, the beginning and the end are kept.
    const said = texts(signals).replace(/x+ \[\d+ characters left out\] x+/, "…");
    expect(said).toBe("before…refused with -32601 -32601 -32601");
    expect(endingOf(signals)).toMatchObject({ kind: "ended" });
    expect(texts(await ask(session, 2, "say well"))).toBe("well");
    await session.close();
    expect(lab.processes()).toEqual([]);
  });
});

describe("An unusable acp: agent", () => {
  const reason = async (session: Session) => {
    const signals = await listen(session, ({ type }) => type === "gone");
    return ofType(signals, "unstartable").map(({ error }) => error);
  };

  test.each([
    ["has no protocol", "cat", /does not seem to support the Agent Client Protocol/],
    ["exits at once", `${process.execPath} --no-such-flag`, /it exited with 9 before it was ready: .*bad option/],
  ])("that %s fails with the reason", async (_, command, expected) => {
    const [error, ...more] = await reason(lab.host.open(lab.spec(`acp:${command}`)));
    expect(error).toMatch(expected);
    expect(more).toEqual([]);
    // `end.json` appears shortly before the keeper exits.
    await expect.poll(() => lab.processes()).toEqual([]);
  });
});
