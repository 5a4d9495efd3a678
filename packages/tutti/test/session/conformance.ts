// The suite that every agent must pass under a keeper, as far as its capabilities allow. `converse` runs one
// conversation and each test examines its signals, so a driver needs two sessions. The agent executes its prompts: see
// ../lab/agents/orders.ts.
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { listen, SessionLab, texts } from "./session-lab.ts";
import { Conversation } from "../agents/conversation.ts";
import { killListed } from "../lab/lab.ts";
import { waitUntil } from "../lab/wait-until.ts";
import type { Ending } from "../../src/schema/ending.ts";
import type { Phase } from "../../src/schema/status.ts";
import type { Capabilities } from "../../src/session/dialogue.ts";
import type { SessionHost, SessionSignal, SessionSpec } from "../../src/session/session.ts";

export interface Subject {
  /** Creates the agent for these prompts. */
  make(lab: SessionLab, prompts: readonly Prompt[]): Made | Promise<Made>;
  /** The timeout of the whole conversation, for slow programs. */
  patienceMs?: number;
}

export interface Made {
  agent: string;
  env?: Record<string, string>;
  /** For an agent that does not announce its capabilities. */
  abilities?: Capabilities;
  /** The name of its tool for writing a file; null for an agent that reports no tools. */
  tool: string | null;
  /** The ending of a turn after an error of the agent; null for an agent without errors. */
  failure: Partial<Ending> | null;
  /** Whether the agent can run a command. */
  runs: boolean;
  /** The agent runs commands without asking, although its protocol has questions. */
  asksNobody?: boolean;
  /** The agent sends additional requests to its model, which count as usage. */
  usesMore?: boolean;
  /** For an agent that resumes a conversation only under a condition. */
  beforeKill?(): Promise<unknown>;
  /** The number of prompts with this text that reached the agent, if it counts them. */
  received?(words: string): number;
  close?(): unknown;
}

export interface Prompt {
  text: string;
  phase: Phase;
}

const work = (...lines: string[]): Prompt => ({ text: lines.join("\n"), phase: "workerExecution" });
/** Separate phases, because a scenario plays an interrupted turn again at the next prompt of the phase. */
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
  /** All signals, and those of each turn. */
  received: SessionSignal[];
  of: Partial<Record<Name, SessionSignal[]>>;
  /** The signals that a second host replayed before the agent was killed, and those emitted until then. */
  adopted: SessionSignal[];
  before: SessionSignal[];
}

const ofType = <T extends SessionSignal["type"]>(received: SessionSignal[], type: T) =>
  received.filter((signal): signal is Extract<SessionSignal, { type: T }> => signal.type === type);
const endingOf = (received: SessionSignal[]): Ending | undefined => ofType(received, "turnOver")[0]?.ending;
const isWords = ({ type }: SessionSignal): boolean => type === "partial" || type === "text";
const isGone = ({ type }: SessionSignal): boolean => type === "gone";

/** Joins texts, because a reader may split a text in two pieces. */
function storyOf(received: readonly SessionSignal[]): SessionSignal[] {
  const story: SessionSignal[] = [];
  for (const signal of received) {
    const last = story.at(-1);
    if (signal.type === "text" && last?.type === "text" && !last.complete)
      story[story.length - 1] = { ...signal, text: last.text + signal.text };
    else if (signal.type !== "caughtUp") story.push(signal);
  }
  return story;
}

/** Kills the agent with all its children, but not its keeper. */
function killAgent(lab: SessionLab): void {
  const agent = lab.processes().filter((line) => !line.includes("keeper"));
  expect(agent.length).toBeGreaterThan(0);
  killListed(agent);
}

async function converse(lab: SessionLab, made: Made): Promise<Story> {
  const { host, newHost } = hostsOf(lab, made);
  const spec: SessionSpec = lab.spec(made.agent);
  const talk = new Conversation(host.open(spec), () => "allow");
  const of: Story["of"] = {};
  /** Delivers the turn twice here and once by another engine. */
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

  let from = talk.received.length;
  await give("interrupted");
  await talk.until(isWords, from);
  await talk.session.interrupt(numberOf("interrupted"));
  of.interrupted = await talk.over(numberOf("interrupted"));
  await play("afterInterrupt");

  const adopted = await listen(newHost().open(spec), ({ type }) => type === "caughtUp");
  const before = [...talk.received];
  await made.beforeKill?.();
  from = talk.received.length;
  await give("killed");
  await talk.until(isWords, from);
  killAgent(lab);
  of.killed = await talk.over(numberOf("killed"));
  const can = ofType(talk.received, "agent").at(-1)?.capabilities ?? made.abilities!;
  const dies = !can.resume && !made.agent.startsWith("text:");
  if (dies) await talk.until(isGone);
  else await play("last");
  await talk.end();
  return { made, can, received: talk.received, of, adopted, before };
}

function hostsOf(lab: SessionLab, made: Made): { host: SessionHost; newHost: () => SessionHost } {
  const agentEnv = { ...made.env, TUTTI_LAB: lab.folder };
  const newHost = () => lab.newHost({ agentEnv, graceMs: 3000 });
  return { host: newHost(), newHost };
}

/** `name` is the agent's name as the user gives it. */
export function describeAgent(name: string, subject: Subject): void {
  describe(`An agent of the driver ${name}`, () => {
    let lab: SessionLab;
    let made: Made;
    let story: Story;

    beforeAll(async () => {
      lab = new SessionLab();
      made = await subject.make(lab, Object.values(TURNS));
      story = await converse(lab, made);
    }, subject.patienceMs);
    afterAll(async () => {
      lab.tearDown();
      await made.close?.();
    });

    test("is ready before it receives its first turn", () => {
      const order = story.received.map(({ type }) => type);
      expect(order.indexOf("ready")).toBeGreaterThanOrEqual(0);
      expect(order.indexOf("ready")).toBeLessThan(order.indexOf("sent"));
    });

    test("reports its text once and complete in each turn", () => {
      expect(texts(story.of.hello!)).toBe("<<<A>>> {…} 🎼");
      expect(texts(story.of.second!)).toBe("The second answer.");
      for (const turn of [story.of.hello!, story.of.second!]) {
        expect(endingOf(turn)).toEqual({ kind: "ended", detail: "the turn ended" });
        if (story.can.partialText)
          expect(
            ofType(turn, "partial")
              .map(({ text }) => text)
              .join(""),
          ).toBe(texts(turn));
      }
    });

    test("reports a tool call once, with its name", () => {
      expect(texts(story.of.page!)).toMatch(/^I write it\.[^]*It is written\.$/);
      expect(existsSync(join(lab.cwd, "page.md"))).toBe(true);
      const names = ofType(story.of.page!, "tool").map((tool) => tool.name);
      expect(names).toEqual(made.tool === null ? [] : [made.tool]);
    });

    test("reports its usage as it grows, without counting twice", () => {
      const spent = (received: SessionSignal[]) =>
        ofType(received, "usage").map(({ usage }) => [usage.inputTokens, usage.outputTokens]);
      const [first, second] = [spent(story.of.hello!), spent(story.of.second!)];
      if (story.can.cost === "none") return expect([first, second]).toEqual([[], []]);
      expect([first.length, second.length]).toEqual([1, 1]);
      expect(first[0]![0]).toBeGreaterThanOrEqual(1200);
      expect(second[0]![0]).toBeGreaterThanOrEqual(1000);
      expect(first[0]![0]! + second[0]![0]!).toBeLessThan(2 * (1200 + 1000));
      // The requests of its own that a program makes count in the turn in which they end.
      if (!made.usesMore) expect([first, second]).toEqual([[[1200, 34]], [[1000, 10]]]);
    });

    test("asks once before it runs a command, and receives the answer", () => {
      const asks = ofType(story.of.command!, "ask");
      const isAsker = story.can.permissions && !made.asksNobody;
      expect(asks).toHaveLength(isAsker ? 1 : 0);
      expect(endingOf(story.of.command!)?.kind).toBe("ended");
      if (!made.runs || !isAsker) return;
      expect(asks[0]!.permission).toEqual({ tool: "Bash", subject: "echo once >> command.txt" });
      expect(ofType(story.of.command!, "tool").map((tool) => tool.name)).toEqual(["Bash"]);
      expect(readFileSync(join(lab.cwd, "command.txt"), "utf8")).toBe("once\n");
    });

    test("reports no text from its prompt, its tools or its subagents as its own", () => {
      const words = texts(story.of.quotes!);
      for (const from of ["the prompt", "a tool", "another"]) expect(words).not.toContain(`words of ${from}`);
      expect(words).toContain("Mine.");
      if (story.can.subagents)
        expect(ofType(story.of.quotes!, "subagent").map(({ phase }) => phase)).toEqual(["started", "done"]);
    });

    test("that fails ends its turn with its own error, and accepts the next turn", () => {
      if (made.failure === null) return expect(story.of.failure).toBeUndefined();
      expect(endingOf(story.of.failure!)).toMatchObject(made.failure);
      expect(texts(story.of.afterFailure!)).toContain("Well again.");
    });

    test("that is interrupted ends its turn as interrupted, and accepts the next turn", () => {
      expect(endingOf(story.of.interrupted!)).toMatchObject({ kind: "interrupted" });
      expect(texts(story.of.afterInterrupt!)).toBe("After all.");
    });

    test("that dies in the middle of a turn resumes if it can, and is reported as dead otherwise", () => {
      if (story.can.resume) {
        expect(endingOf(story.of.killed!)).toMatchObject({ kind: "ended" });
        expect(texts(story.of.killed!)).toBe("The last word.");
      } else
        expect(endingOf(story.of.killed!)).toMatchObject({ kind: "exited", detail: expect.stringMatching(/SIGKILL/) });
      if (story.of.last) expect(texts(story.of.last)).toBe("Still here.");
      else expect(story.received.at(-1)).toMatchObject({ type: "gone", deliberate: false });
    });

    test("receives a turn once, also after repeated deliveries by several engines", () => {
      const sent = ofType(story.received, "sent").map(({ turn }) => turn);
      expect(sent).toEqual(NAMES.filter((turn) => story.of[turn]).map(numberOf));
      expect(texts(story.received).split("The second answer.")).toHaveLength(2);
      if (made.received) expect(made.received("The second answer.")).toBe(1);
    });

    test("replays the same signals to an engine that adopts it", () => {
      expect(storyOf(story.adopted)).toEqual(storyOf(story.before));
    });

    test("leaves no process when it is stopped in the middle of a turn, not even one in its own process session", async () => {
      expect(lab.processes()).toEqual([]);
      const { host } = hostsOf(lab, made);
      const talk = new Conversation(host.open(lab.spec(made.agent)), () => "allow");
      if (made.runs) {
        await talk.give(1, "run setsid sh -c 'touch up; sleep 300; :'");
        await waitUntil(() => existsSync(join(lab.cwd, "up")));
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
