import { existsSync, openSync, readdirSync, readFileSync, rmSync, writeFileSync, writeSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { Conversation } from "../agents/conversation.ts";
import { programOf } from "../lab/program-of.ts";
import { listen, oneTurn, SessionLab, texts, turn } from "./session-lab.ts";
import type { Session, SessionSignal, SessionSpec } from "../../src/session/session.ts";

/** Never finishes a prompt by itself, records every line it gets, and stops at an interrupt. */
const OBEDIENT = (log: string): string => `
import { appendFileSync } from "node:fs";
import { createInterface } from "node:readline";
const say = (line) => console.log(JSON.stringify(line));
for await (const line of createInterface({ input: process.stdin })) {
  appendFileSync(${JSON.stringify(log)}, line + "\\n");
  const { type, text } = JSON.parse(line);
  if (type === "user") say({ type: "assistant", text: "at work on " + text });
  if (type === "interrupt") say({ type: "turn_end" });
}`;

const INTERRUPTED = { type: "turnOver", turn: 1, ending: { kind: "interrupted", detail: "the turn was interrupted" } };

let lab: SessionLab;
beforeEach(() => {
  lab = new SessionLab();
});
afterEach(() => lab.tearDown());

/** Delivers turn 1, interrupts it at the given signal, and reads until the turn is over or the session is gone. */
function interruptAt(session: Session, moment: (signal: SessionSignal) => boolean): Promise<SessionSignal[]> {
  return listen(
    session,
    ({ type }) => type === "turnOver" || type === "gone",
    async (signal) => {
      if (signal.type === "ready") await session.deliver(turn(1));
      if (moment(signal)) await session.interrupt(1);
    },
  );
}

const atFirst =
  (type: SessionSignal["type"]) =>
  (signal: SessionSignal): boolean =>
    signal.type === type;

async function nextTurn(session: Session, number: number, text = "go on"): Promise<SessionSignal[]> {
  await session.deliver(turn(number, text));
  return listen(session, (signal) => signal.type === "turnOver" && signal.turn === number);
}

function obedient(): { spec: SessionSpec; lines: () => string[] } {
  const log = join(lab.folder, `lines-${readdirSync(lab.folder).length}`);
  const spec = lab.spec(lab.program("command", OBEDIENT(log)));
  return { spec, lines: () => readFileSync(log, "utf8").trimEnd().split("\n") };
}

describe("An interrupted acp: agent", () => {
  it("has its commands ended, also those for which it does not wait, and continues", async () => {
    const agent = `acp:${process.execPath} ${programOf("acp.ts")}`;
    const talk = new Conversation(lab.host.open(lab.spec(agent)), () => "allow");
    const commands = () => lab.processes().filter((line) => line.includes("sleep 306"));
    await talk.give(1, "run sh -c 'sleep 306; :' & touch up\ntalk for long");
    await talk.until(({ type }) => type === "partial");
    expect(existsSync(join(lab.cwd, "up"))).toBe(true);
    expect(commands()).not.toEqual([]);
    await talk.session.interrupt(1);
    await talk.over(1);
    await expect.poll(commands).toEqual([]);
    expect(texts(await talk.turn(2, "say Here I am."))).toBe("Here I am.");
    await talk.end();
  });
});

describe("An interrupted command: agent", () => {
  it("gets one line, and its turn ends as interrupted", async () => {
    const { spec, lines } = obedient();
    const session = lab.host.open(spec);
    const signals = await interruptAt(session, atFirst("text"));
    expect(signals.slice(-2)).toEqual([{ type: "interrupted", turn: 1 }, INTERRUPTED]);
    expect(lines().slice(1)).toEqual(['{"type":"interrupt"}']);
    await session.stop();
  });

  it("gets one line, also after repeated interrupts by several engines", async () => {
    const { spec, lines } = obedient();
    const session = lab.host.open(spec);
    await interruptAt(session, atFirst("text"));
    for (const each of [session, lab.newHost().open(spec), session]) await each.interrupt(1);
    await session.deliver(turn(2, "more"));
    await listen(session, (signal) => signal.type === "text" && signal.text.includes("more"));
    for (const each of [lab.newHost().open(spec), session]) await each.interrupt(2);
    const signals = await listen(session, (signal) => signal.type === "turnOver" && signal.turn === 2);
    expect(signals.filter(({ type }) => type === "turnOver")).toEqual([INTERRUPTED, { ...INTERRUPTED, turn: 2 }]);
    expect(lines().filter((line) => line.includes("interrupt"))).toHaveLength(2);
    await session.stop();
  });

  it("gets nothing if its turn has ended or was never delivered", async () => {
    const log = join(lab.folder, "lines");
    const agent = lab.program(
      "command",
      `import { appendFileSync } from "node:fs";
       import { createInterface } from "node:readline";
       for await (const line of createInterface({ input: process.stdin })) {
         appendFileSync(${JSON.stringify(log)}, line + "\\n");
         console.log(JSON.stringify({ type: "turn_end" }));
       }`,
    );
    const session = lab.host.open(lab.spec(agent));
    await session.interrupt(1);
    await oneTurn(session);
    await session.interrupt(1);
    await session.interrupt(2);
    const signals = await nextTurn(session, 2);
    expect(signals.filter(({ type }) => type === "turnOver" || type === "interrupted")).toMatchObject([
      { turn: 1, ending: { kind: "ended" } },
      { turn: 2, ending: { kind: "ended" } },
    ]);
    expect(readFileSync(log, "utf8")).not.toContain("interrupt");
    await session.stop();
  });

  it("is stopped even if its keeper reads the turn and the interrupt at the same time", async () => {
    const { spec, lines } = obedient();
    const session = lab.host.open(spec);
    // Both requests exist before the keeper starts.
    const generator = session.signals();
    const first = generator.next();
    await session.deliver(turn(1));
    await session.interrupt(1);
    await first;
    await generator.return(undefined);
    const signals = await listen(session, ({ type }) => type === "turnOver");
    expect(signals.at(-1)).toEqual(INTERRUPTED);
    expect(lines().map((line) => (JSON.parse(line) as { type: string }).type)).toEqual(["user", "interrupt"]);
    await session.stop();
  });

  it("that answers with an error or dies counts as interrupted", async () => {
    const rude = (then: string): string =>
      lab.program(
        "command",
        `import { createInterface } from "node:readline";
         for await (const line of createInterface({ input: process.stdin })) {
           if (JSON.parse(line).type === "user") console.log("working");
           else { ${then} }
         }`,
      );
    const signals = await interruptAt(
      lab.host.open(lab.spec(rude(`console.log(JSON.stringify({ type: "turn_end", error: "aborted" }));`))),
      atFirst("text"),
    );
    expect(signals.at(-1)).toMatchObject({
      ending: { kind: "interrupted", detail: "the turn was interrupted: aborted" },
    });
    const died = await interruptAt(lab.host.open(lab.spec(rude("process.exit(3);"))), atFirst("text"));
    expect(died.at(-1)).toMatchObject({
      ending: { kind: "interrupted", detail: expect.stringContaining("the agent exited with 3") },
    });
  });

  it("is checked from the reader's position, without reading everything again", async () => {
    const { spec } = obedient();
    const session = lab.host.open(spec);
    await interruptAt(session, atFirst("text"));
    await session.deliver(turn(2, "more"));
    await listen(session, (signal) => signal.type === "text" && signal.text.includes("more"));
    const folder = join(lab.folder, "sessions", spec.runId, spec.sessionId);
    const journal = readFileSync(join(folder, "journal.jsonl"), "utf8").trim().split("\n");
    const second = journal
      .map((line) => JSON.parse(line) as { turn?: number; offset: number })
      .find(({ turn }) => turn === 2)!;
    const fd = openSync(join(folder, "output.log"), "r+");
    writeSync(fd, Buffer.alloc(second.offset, " "), 0, second.offset, 0);
    rmSync(join(folder, "requests", "interrupt-000001.json"));
    await session.interrupt(1);
    expect(existsSync(join(folder, "requests", "interrupt-000001.json"))).toBe(false);
    await session.stop();
  });

  it("that ignores the interrupt keeps running until it ends its turn", async () => {
    const agent = lab.program(
      "command",
      `process.stdin.once("data", () => {
         console.log(JSON.stringify({ type: "assistant", text: "busy" }));
         process.stdin.once("data", () => {
           console.log(JSON.stringify({ type: "assistant", text: ", done" }));
           console.log(JSON.stringify({ type: "turn_end" }));
         });
       });`,
    );
    const session = lab.host.open(lab.spec(agent));
    const signals = await interruptAt(session, atFirst("text"));
    expect(texts(signals)).toBe("busy, done");
    expect(signals.at(-1)).toEqual(INTERRUPTED);
    expect(lab.processes()).toHaveLength(2);
    await session.stop();
  });

  it("shows the interrupt in its transcript", async () => {
    const { spec } = obedient();
    const session = lab.host.open(spec);
    await interruptAt(session, atFirst("text"));
    expect(await lab.host.transcript(spec.runId, spec.sessionId)).toEqual([
      { n: 1, at: expect.any(String), type: "prompt", turn: 1, text: "do it" },
      { n: 2, type: "text", text: "at work on do it" },
      { n: 3, at: expect.any(String), type: "interrupted", turn: 1 },
      { n: 4, ...INTERRUPTED },
    ]);
    await session.stop();
  });
});

describe("An interrupted text: agent", () => {
  it("is killed even if it ignores the signal", async () => {
    const agent = lab.program(
      "text",
      `process.on("SIGTERM", () => console.log("never")); console.log("busy"); setInterval(() => {}, 1000);`,
    );
    const session = lab.host.open(lab.spec(agent));
    const signals = await interruptAt(session, atFirst("text"));
    expect(signals.at(-1)).toMatchObject({
      ending: { kind: "interrupted", detail: expect.stringContaining("SIGKILL") },
    });
    await session.stop();
  });
});

describe("An interrupted script: agent", () => {
  it("ends a hanging turn at once, and plays the same turn at the next delivery", async () => {
    const turns = [{ say: "first", then: "hang" }, { say: "second" }];
    const session = lab.host.open(lab.spec(lab.scenario([{ turns }])));
    expect((await interruptAt(session, atFirst("text"))).at(-1)).toEqual(INTERRUPTED);
    await session.deliver(turn(2));
    let said = 0;
    const again = await listen(
      session,
      (signal) => signal.type === "turnOver" && signal.turn === 2,
      async ({ type }) => {
        if (type === "text" && ++said === 2) await session.interrupt(2);
      },
    );
    expect(texts(again)).toBe("firstfirst");
    expect(again.at(-1)).toEqual({ ...INTERRUPTED, turn: 2 });
    await session.stop();
  });

  it("skips the rest of its turn, and continues in order after the turn was played again", async () => {
    const gate = join(lab.folder, "gate");
    const turns = [{ waitForFile: gate, say: "first", write: { "a.txt": "a" } }, { say: "second" }];
    const session = lab.host.open(lab.spec(lab.scenario([{ turns }])));
    const signals = await interruptAt(session, atFirst("sent"));
    expect(signals.at(-1)).toEqual(INTERRUPTED);
    expect(texts(signals)).toBe("");
    expect(existsSync(join(lab.cwd, "a.txt"))).toBe(false);
    writeFileSync(gate, "");
    expect(texts(await nextTurn(session, 2))).toBe("first");
    expect(readFileSync(join(lab.cwd, "a.txt"), "utf8")).toBe("a");
    expect(texts(await nextTurn(session, 3))).toBe("firstsecond");
    await session.stop();
  });

  it("drops its question, and the next answer belongs to the next question", async () => {
    const session = lab.host.open(lab.spec(lab.scenario([{ turns: [{ then: "ask:Which?" }] }])));
    await interruptAt(session, atFirst("ask"));
    await session.deliver(turn(2));
    const signals = await listen(
      session,
      (signal) => signal.type === "turnOver" && signal.turn === 2,
      async (signal) => {
        if (signal.type === "ask") await session.answer(signal.askId, `to ${signal.askId}`);
      },
    );
    expect(texts(signals)).toBe("The answer was: to ask-2");
    await session.stop();
  });
});

describe("The interrupted local agent", () => {
  it("ends its turn and accepts the next one", async () => {
    const session = lab.host.open(lab.spec("local"));
    const signals = await interruptAt(session, atFirst("sent"));
    expect(signals.at(-1)).toMatchObject({ type: "turnOver", turn: 1 });
    expect((await nextTurn(session, 2)).at(-1)).toMatchObject({ turn: 2, ending: { kind: "ended" } });
    await session.stop();
  });
});
