// What every agent must show under a keeper, whatever its driver, as far as it can do it at all. One conversation is held
// with the agent, and each test looks at what was told of it; so a driver is tested in two sessions. The agent does what
// the prompt says: see ../lab/agents/orders.ts.
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { listen, SessionLab, texts } from "./session-lab.ts";
import { Conversation } from "../agents/conversation.ts";
import type { Ending } from "../../src/schema/ending.ts";
import type { Phase } from "../../src/schema/status.ts";
import type { Capabilities } from "../../src/session/dialogue.ts";
import type { SessionHost, SessionSignal, SessionSpec } from "../../src/session/session.ts";

export interface Subject {
  /** Makes the agent, which will get these prompts. */
  make(lab: SessionLab, prompts: readonly Prompt[]): Made | Promise<Made>;
  /** How long the whole conversation may take, for a program that needs more than the usual time. */
  patienceMs?: number;
}

export interface Made {
  agent: string;
  env?: Record<string, string>;
  /** What it can do, for an agent that does not say so itself. */
  abilities?: Capabilities;
  /** The name under which it tells of the tool that writes a file; null for an agent that tells of none. */
  tool: string | null;
  /** How an error of its own ends a turn; null for an agent that has none. */
  failure: Partial<Ending> | null;
  /** Whether it can run a command. */
  runs: boolean;
  /** It runs commands without asking, although its protocol knows questions. */
  asksNobody?: boolean;
  /** It asks its model things of its own in between, which are counted too. */
  usesMore?: boolean;
  /** For an agent that takes a conversation up again only under a condition of its own. */
  beforeKill?(): Promise<unknown>;
  /** How many prompts with these words have reached it, where somebody counts. */
  received?(words: string): number;
  close?(): unknown;
}

export interface Prompt {
  text: string;
  phase: Phase;
}

const work = (...lines: string[]): Prompt => ({ text: lines.join("\n"), phase: "workerExecution" });
/** Of a phase of their own: a scenario plays an interrupted turn again at the next prompt of the phase. */
const endless = (text: string): Prompt => ({ text, phase: "verification" });

const TURNS = {
  hello: work("say <<<A>>> {…} 🎼", "use 1200 34"),
  second: work("say The second answer.", "use 1000 10"),
  page: work("say I write it.", "write page.md", "say It is written."),
  command: work("run echo once >> command.txt", "say It ran."),
  quotes: work("These are words of the prompt.", "run echo words of a tool", "delegate words of another", "say Mine."),
  failure: work("fail 400 no such luck today"),
  afterFailure: work("say Well again."),
  interrupted: endless("talk for the first time"),
  afterInterrupt: work("say After all."),
  killed: endless("talk for the second time"),
  last: work("say Still here."),
};
type Name = keyof typeof TURNS;
const NAMES = Object.keys(TURNS) as Name[];
const numberOf = (name: Name): number => NAMES.indexOf(name) + 1;

interface Story {
  made: Made;
  can: Capabilities;
  /** Everything that was told, and of each turn what was told of it. */
  heard: SessionSignal[];
  of: Partial<Record<Name, SessionSignal[]>>;
  /** What a second host heard of the session before its agent was killed, and what had been told until then. */
  adopted: SessionSignal[];
  before: SessionSignal[];
}

const ofType = <T extends SessionSignal["type"]>(heard: SessionSignal[], type: T) =>
  heard.filter((signal): signal is Extract<SessionSignal, { type: T }> => signal.type === type);
const endingOf = (heard: SessionSignal[]): Ending | undefined => ofType(heard, "turnOver")[0]?.ending;
const isWords = ({ type }: SessionSignal): boolean => type === "partial" || type === "text";
const isGone = ({ type }: SessionSignal): boolean => type === "gone";

/** Where a reader looks in the middle of words, it tells them in two pieces. */
function storyOf(heard: readonly SessionSignal[]): SessionSignal[] {
  const story: SessionSignal[] = [];
  for (const signal of heard) {
    const last = story.at(-1);
    if (signal.type === "text" && last?.type === "text" && !last.complete)
      story[story.length - 1] = { ...signal, text: last.text + signal.text };
    else if (signal.type !== "caughtUp") story.push(signal);
  }
  return story;
}

/** Ends the agent itself, with everything it started, but not its keeper. */
function killAgent(lab: SessionLab): void {
  const agent = lab.processes().filter((line) => !line.includes("keeper"));
  expect(agent.length).toBeGreaterThan(0);
  for (const line of agent) {
    try {
      process.kill(Number(line.split(" ")[0]), "SIGKILL");
    } catch {
      // It went with the one before.
    }
  }
}

async function converse(lab: SessionLab, made: Made): Promise<Story> {
  const { host, newHost } = hostsOf(lab, made);
  const spec: SessionSpec = lab.spec(made.agent);
  const talk = new Conversation(host.open(spec), () => "allow");
  const of: Story["of"] = {};
  /** Given twice here and once by another engine. */
  const give = async (name: Name): Promise<void> => {
    const { text, phase } = TURNS[name];
    for (let i = 0; i < 2; i += 1) await talk.give(numberOf(name), text, phase);
    await newHost()
      .open(spec)
      .deliver({ number: numberOf(name), phase, text, variables: {} });
  };
  const play = async (name: Name): Promise<void> => {
    await give(name);
    of[name] = await talk.over(numberOf(name));
  };
  for (const name of ["hello", "second", "page", "command", "quotes"] as const) await play(name);
  if (made.failure) for (const name of ["failure", "afterFailure"] as const) await play(name);

  let from = talk.heard.length;
  await give("interrupted");
  await talk.until(isWords, from);
  await talk.session.interrupt(numberOf("interrupted"));
  of.interrupted = await talk.over(numberOf("interrupted"));
  await play("afterInterrupt");

  const adopted = await listen(newHost().open(spec), ({ type }) => type === "caughtUp");
  const before = [...talk.heard];
  await made.beforeKill?.();
  from = talk.heard.length;
  await give("killed");
  await talk.until(isWords, from);
  killAgent(lab);
  of.killed = await talk.over(numberOf("killed"));
  const can = ofType(talk.heard, "agent").at(-1)?.capabilities ?? made.abilities!;
  const dies = !can.resume && !made.agent.startsWith("text:");
  if (dies) await talk.until(isGone);
  else await play("last");
  await talk.end();
  return { made, can, heard: talk.heard, of, adopted, before };
}

function hostsOf(lab: SessionLab, made: Made): { host: SessionHost; newHost: () => SessionHost } {
  const agentEnv = { ...made.env, TUTTI_LAB: lab.folder };
  const newHost = () => lab.newHost({ agentEnv, graceMs: 3000 });
  return { host: newHost(), newHost };
}

/** The suite. `name` is how a person would name the agent. */
export function describeAgent(name: string, subject: Subject): void {
  describe(`an agent of the driver ${name}`, () => {
    let lab: SessionLab;
    let made: Made;
    let told: Story;

    beforeAll(async () => {
      lab = new SessionLab();
      made = await subject.make(lab, Object.values(TURNS));
      told = await converse(lab, made);
    }, subject.patienceMs);
    afterAll(async () => {
      lab.tearDown();
      await made.close?.();
    });

    test("is ready before its first turn, and is given that only then", () => {
      const order = told.heard.map(({ type }) => type);
      expect(order.indexOf("ready")).toBeGreaterThanOrEqual(0);
      expect(order.indexOf("ready")).toBeLessThan(order.indexOf("sent"));
    });

    test("has its words told once and complete, turn after turn", () => {
      expect(texts(told.of.hello!)).toBe("<<<A>>> {…} 🎼");
      expect(texts(told.of.second!)).toBe("The second answer.");
      for (const turn of [told.of.hello!, told.of.second!]) {
        expect(endingOf(turn)).toEqual({ kind: "ended", detail: "the turn ended" });
        if (told.can.partialText)
          expect(
            ofType(turn, "partial")
              .map(({ text }) => text)
              .join(""),
          ).toBe(texts(turn));
      }
    });

    test("has a tool that it uses told by its name, once", () => {
      expect(texts(told.of.page!)).toMatch(/^I write it\.[^]*It is written\.$/);
      expect(existsSync(join(lab.cwd, "page.md"))).toBe(true);
      const names = ofType(told.of.page!, "tool").map((tool) => tool.name);
      expect(names).toEqual(made.tool === null ? [] : [made.tool]);
    });

    test("has what it used told as it grows, and nothing of it twice", () => {
      const spent = (heard: SessionSignal[]) =>
        ofType(heard, "usage").map(({ usage }) => [usage.inputTokens, usage.outputTokens]);
      const [first, second] = [spent(told.of.hello!), spent(told.of.second!)];
      if (told.can.cost === "none") return expect([first, second]).toEqual([[], []]);
      expect(second).toEqual([[1000, 10]]);
      expect([first.length, first[0]![0]! >= 1200]).toEqual([1, true]);
      if (!made.usesMore) expect(first).toEqual([[1200, 34]]);
    });

    test("asks before it runs a command, once, and is answered", () => {
      const asks = ofType(told.of.command!, "ask");
      const isAsker = told.can.permissions && !made.asksNobody;
      expect(asks).toHaveLength(isAsker ? 1 : 0);
      expect(endingOf(told.of.command!)?.kind).toBe("ended");
      if (!made.runs || !isAsker) return;
      expect(asks[0]!.permission).toEqual({ tool: "Bash", subject: "echo once >> command.txt" });
      expect(ofType(told.of.command!, "tool").map((tool) => tool.name)).toEqual(["Bash"]);
      expect(readFileSync(join(lab.cwd, "command.txt"), "utf8")).toBe("once\n");
    });

    test("is not taken to have said what stands in its prompt, comes from a tool or from an agent of its own", () => {
      const words = texts(told.of.quotes!);
      for (const from of ["the prompt", "a tool", "another"]) expect(words).not.toContain(`words of ${from}`);
      expect(words).toContain("Mine.");
      if (told.can.subagents)
        expect(ofType(told.of.quotes!, "subagent").map(({ phase }) => phase)).toEqual(["started", "done"]);
    });

    test("that fails by itself ends its turn with its own words, and takes the next one", () => {
      if (made.failure === null) return expect(told.of.failure).toBeUndefined();
      expect(endingOf(told.of.failure!)).toMatchObject(made.failure);
      expect(texts(told.of.afterFailure!)).toContain("Well again.");
    });

    test("that is interrupted ends its turn as interrupted, and takes the next one", () => {
      expect(endingOf(told.of.interrupted!)).toMatchObject({ kind: "interrupted" });
      expect(texts(told.of.afterInterrupt!)).toBe("After all.");
    });

    test("that dies in the middle of a turn goes on where it can, and is told as dead where it cannot", () => {
      if (told.can.resume) {
        expect(endingOf(told.of.killed!)).toMatchObject({ kind: "ended" });
        expect(texts(told.of.killed!)).toBe("The last word.");
      } else
        expect(endingOf(told.of.killed!)).toMatchObject({ kind: "exited", detail: expect.stringMatching(/SIGKILL/) });
      if (told.of.last) expect(texts(told.of.last)).toBe("Still here.");
      else expect(told.heard.at(-1)).toMatchObject({ type: "gone", deliberate: false });
    });

    test("gets a turn once, however often and by however many engines it is delivered", () => {
      const sent = ofType(told.heard, "sent").map(({ turn }) => turn);
      expect(sent).toEqual(NAMES.filter((turn) => told.of[turn]).map(numberOf));
      expect(texts(told.heard).split("The second answer.")).toHaveLength(2);
      if (made.received) expect(made.received("The second answer.")).toBe(1);
    });

    test("tells an engine that adopts it the same story, once", () => {
      expect(storyOf(told.adopted)).toEqual(storyOf(told.before));
    });

    test("leaves no process when it is stopped in the middle of a turn, not even one with a session of its own", async () => {
      expect(lab.processes()).toEqual([]);
      const { host } = hostsOf(lab, made);
      const talk = new Conversation(host.open(lab.spec(made.agent)), () => "allow");
      if (made.runs) {
        await talk.give(1, "run setsid sh -c 'touch up; sleep 300; :'");
        await vi.waitUntil(() => existsSync(join(lab.cwd, "up")), { timeout: 120_000 });
        expect(lab.processes().some((line) => line.includes("sleep 300"))).toBe(true);
      } else {
        await talk.give(1, TURNS.killed.text, TURNS.killed.phase);
        await talk.until(isWords);
      }
      await talk.end();
      expect(lab.processes()).toEqual([]);
    });
  });
}
