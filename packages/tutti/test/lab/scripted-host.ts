// A `SessionHost` that plays `script:` agents in the process of the test. A keeper and a player process for each session
// take most of the time of a test that is about the engine, not about processes.
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, resolve } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { Ending } from "../../src/schema/ending.ts";
import { ANSWER_PHASE } from "../../src/schema/status.ts";
import type { TranscriptEntry } from "../../src/schema/transcript.ts";
import type { AgentLine } from "../../src/session/dialogue.ts";
import { decodeMessage } from "../../src/session/drivers/json-lines.ts";
import { blockText, fill } from "../../src/session/drivers/script/fill-turn.ts";
import { matchSession } from "../../src/session/drivers/script/match-session.ts";
import { readFailure } from "../../src/session/drivers/script/read-failure.ts";
import { Scenario, type ScenarioTurn } from "../../src/session/drivers/script/scenario.ts";
import type { Session, SessionHost, SessionSignal, SessionSpec, Turn } from "../../src/session/session.ts";
import { ToolDesk } from "../../src/session/tools/tool-desk.ts";
import { workerTools } from "../../src/session/tools/worker-tools.ts";

const FILE_POLL_MS = 20;
const NO_END_MS = 2 ** 31 - 1;
/** Signals that are no part of a transcript. */
const UNSHOWN: readonly string[] = ["ready", "sent", "caughtUp", "gone"];
type Shown = { type: string } & Record<string, unknown>;
const ENDED: Ending = { kind: "ended", detail: "the turn ended" };
const INTERRUPTED: Ending = { kind: "interrupted", detail: "the turn was interrupted" };

/** The agents of all hosts of one test: they outlive an engine that leaves them running, as processes do. */
export type ScriptedAgents = Map<string, ScriptedAgent>;

/** `other` runs every agent that is no `script:` one. */
export function createScriptedHost(agents: ScriptedAgents, other: SessionHost): SessionHost {
  const agentsOf = (runId: string): ScriptedAgent[] => [...agents.values()].filter(({ spec }) => spec.runId === runId);
  return {
    open(spec) {
      if (!spec.agent.startsWith("script:")) return other.open(spec);
      const key = keyOf(spec.runId, spec.sessionId);
      const agent = agents.get(key) ?? new ScriptedAgent(spec);
      agents.set(key, agent);
      return new ScriptedSession(agent);
    },
    async end(runId, sessionId) {
      agents.get(keyOf(runId, sessionId))?.end("it was stopped", true);
      await other.end(runId, sessionId);
    },
    async reap(runId, keep) {
      for (const agent of agentsOf(runId)) if (!keep.includes(agent.spec.sessionId)) agent.end("it was stopped", true);
      await other.reap(runId, keep);
    },
    async forget(runId) {
      for (const { spec } of agentsOf(runId)) agents.delete(keyOf(runId, spec.sessionId));
      await other.forget(runId);
    },
    hasRun: (runId) => agentsOf(runId).length > 0 || other.hasRun(runId),
    async transcript(runId, sessionId, page) {
      const agent = agents.get(keyOf(runId, sessionId));
      if (!agent) return other.transcript(runId, sessionId, page);
      const { after, limit } = page ?? { after: 0, limit: Number.POSITIVE_INFINITY };
      return agent.transcript.slice(after, after + limit);
    },
    async archive(runId, sessionId) {
      if (!agents.has(keyOf(runId, sessionId))) await other.archive(runId, sessionId);
    },
    isArchived: (runId, sessionId) => other.isArchived(runId, sessionId),
    lacksTools: (agent) => other.lacksTools?.(agent) === true,
    check: (agent, cwd) => other.check(agent, cwd),
  };
}

const keyOf = (runId: string, sessionId: string): string => `${runId} ${sessionId}`;

class ScriptedAgent {
  readonly spec: SessionSpec;
  readonly delivered = new Set<number>();
  /** Every signal since the start; a session that is opened again replays it. */
  readonly story: SessionSignal[] = [];
  readonly transcript: TranscriptEntry[] = [];
  /** Called after each signal. */
  readonly listeners = new Set<() => void>();
  readonly #scenario: Scenario;
  /** Turns played by each entry of the scenario. */
  readonly #played = new Map<number, number>();
  readonly #answers = new Map<string, (text: string) => void>();
  /** The tools of Tutti, without the HTTP server of a keeper. */
  readonly #desk: ToolDesk;
  #open: { turn: number; interrupt: AbortController } | null = null;
  #turns: Promise<void> = Promise.resolve();
  #isOver = false;

  constructor(spec: SessionSpec) {
    this.spec = spec;
    this.#scenario = Scenario.parse(JSON.parse(readFileSync(spec.agent.replace(/^script:/, ""), "utf8")));
    const { role, taskId, delegation = { refusal: "This session cannot delegate." } } = spec;
    this.#desk = new ToolDesk({ role, taskId, delegation, note: (line) => this.#noteCall(line) });
    this.#emit({ type: "ready" });
  }

  #noteCall(line: AgentLine): void {
    const signal = line.type === "report" ? line : decodeMessage({ ...line });
    if (signal && signal.type !== "turnEnd") this.#emit(signal);
  }

  #emit(signal: SessionSignal): void {
    if (this.#isOver) return;
    this.#isOver = signal.type === "gone";
    this.story.push(signal);
    if (!UNSHOWN.includes(signal.type)) this.#note(signal);
    for (const listener of this.listeners) listener();
  }

  #note(entry: Shown): void {
    this.transcript.push({ n: this.transcript.length + 1, at: new Date().toISOString(), ...entry } as TranscriptEntry);
  }

  end(reason: string, deliberate: boolean): void {
    this.#emit({ type: "gone", reason, deliberate });
    this.#open?.interrupt.abort();
  }

  /** Writes more text than the scenario has, such as progress at a given rate. */
  say(text: string): void {
    this.#emit({ type: "text", text, complete: true });
  }

  deliver(turn: Turn): void {
    if (this.delivered.has(turn.number)) return;
    this.delivered.add(turn.number);
    this.#turns = this.#turns.then(() => this.#play(turn));
  }

  answer(askId: string, text: string): void {
    if (!this.#desk.answer(askId, text)) this.#answers.get(askId)?.(text);
  }

  interrupt(turn: number): void {
    if (this.#open?.turn !== turn || this.#open.interrupt.signal.aborted) return;
    this.#emit({ type: "interrupted", turn });
    this.#open.interrupt.abort();
  }

  async #play({ number, phase, text, variables: given, message }: Turn): Promise<void> {
    if (this.#isOver) return;
    this.#desk.beginTurn(ANSWER_PHASE[phase], message);
    const { mailbox } = this.spec;
    const variables = { ...given, ...(mailbox === undefined ? {} : { TUTTI_MAILBOX: mailbox }) };
    this.#note({ type: "prompt", turn: number, text });
    const interrupt = new AbortController();
    this.#open = { turn: number, interrupt };
    this.#emit({ type: "sent", turn: number });
    const { role, teamRole, taskId: task, attempt } = this.spec;
    const index = matchSession(this.#scenario, { role, teamRole, task, attempt, phase });
    if (index < 0) throw new Error(`the scenario has no session for ${role} ${task} ${phase}`);
    const { turns } = this.#scenario.sessions[index]!;
    const count = this.#played.get(index) ?? 0;
    const turn = fill(turns[Math.min(count, turns.length - 1)]!, variables);
    const { signal } = interrupt;
    try {
      const ending = await this.#act(turn, variables, signal);
      this.#played.set(index, count + 1);
      this.#emit({ type: "turnOver", turn: number, ending });
      if (ending.kind === "exited") this.end("the agent exited", false);
    } catch (error) {
      if (!signal.aborted) throw error;
      this.#emit({ type: "turnOver", turn: number, ending: INTERRUPTED });
    }
    this.#open = null;
  }

  async #act(turn: ScenarioTurn, variables: Record<string, string>, signal: AbortSignal): Promise<Ending> {
    const wait = (ms: number): Promise<void> => sleep(ms, undefined, { signal });
    await wait(turn.delayMs ?? 0);
    while (turn.waitForFile !== undefined && !existsSync(turn.waitForFile)) await wait(FILE_POLL_MS);
    for (const name of turn.tools ?? []) this.#emit({ type: "tool", name, input: {} });
    for (const [name, content] of Object.entries(turn.write ?? {})) {
      const file = resolve(this.spec.cwd, name);
      mkdirSync(dirname(file), { recursive: true });
      writeFileSync(file, content);
    }
    for (const call of turn.calls ?? []) await this.#use(call, signal);
    const block = turn.block && blockText(turn.block, variables);
    const text = [turn.say, block].filter((part) => part !== undefined).join("\n\n");
    if (text !== "") this.#emit({ type: "text", text, complete: true });
    if (turn.usage) {
      const signal = decodeMessage({ type: "usage", ...turn.usage });
      if (signal?.type === "usage") this.#emit(signal);
    }
    const then = turn.then ?? "end";
    if (then === "hang") await wait(NO_END_MS);
    if (then.startsWith("ask:")) await this.#ask(then.slice(4), signal);
    if (then === "crash") return exited("was ended by SIGKILL");
    const failure = readFailure(then, Date.now());
    if (failure) return { kind: "error", ...failure };
    if (then.startsWith("exit:")) return exited(`exited with ${then.slice(5)}`);
    return ENDED;
  }

  async #use({ tool, with: input }: NonNullable<ScenarioTurn["calls"]>[number], signal: AbortSignal): Promise<void> {
    const id = `call-${this.story.length}`;
    this.#emit({ type: "tool", id, name: `mcp__tutti__${tool}`, input });
    try {
      const found = workerTools(this.#desk)[tool]!;
      const called = await found.call(found.input.parse(input), { signal, progress: async () => {} });
      this.#emit({ type: "toolResult", id, text: typeof called === "string" ? called : JSON.stringify(called) });
    } catch (error) {
      if (signal.aborted) throw error;
      this.#emit({ type: "toolFailed", id, error: (error as Error).message });
    }
  }

  async #ask(question: string, signal: AbortSignal): Promise<void> {
    const askId = `ask-${this.story.length}`;
    const { promise, resolve, reject } = Promise.withResolvers<string>();
    this.#answers.set(askId, resolve);
    signal.addEventListener("abort", () => reject(new Error("interrupted")));
    this.#emit({ type: "ask", askId, question });
    this.#emit({ type: "text", text: `The answer was: ${await promise}`, complete: true });
  }
}

const exited = (how: string): Ending => ({ kind: "exited", detail: `the agent ${how} in the middle of its turn` });

class ScriptedSession implements Session {
  readonly #agent: ScriptedAgent;
  #isLeft = false;
  #wake: () => void = () => {};

  constructor(agent: ScriptedAgent) {
    this.#agent = agent;
  }

  get sessionId(): string {
    return this.#agent.spec.sessionId;
  }

  async *signals(): AsyncGenerator<SessionSignal> {
    const { story, listeners } = this.#agent;
    const past = story.length;
    const listener = (): void => this.#wake();
    listeners.add(listener);
    try {
      for (let read = 0; !this.#isLeft; read++) {
        if (read === past) yield { type: "caughtUp" };
        while (read >= story.length && !this.#isLeft) {
          const { promise, resolve } = Promise.withResolvers<void>();
          this.#wake = resolve;
          await promise;
        }
        const signal = story[read];
        if (this.#isLeft || !signal) return;
        if (signal.type === "gone" && read < past) yield { type: "caughtUp" };
        yield signal;
        if (signal.type === "gone") return;
      }
    } finally {
      listeners.delete(listener);
    }
  }

  async deliver(turn: Turn): Promise<void> {
    this.#agent.deliver(turn);
  }

  wasDelivered(turn: number): boolean {
    return this.#agent.delivered.has(turn);
  }

  async answer(askId: string, text: string): Promise<void> {
    this.#agent.answer(askId, text);
  }

  async interrupt(turn: number): Promise<void> {
    this.#agent.interrupt(turn);
  }

  async close(): Promise<void> {
    this.#agent.end("it was closed after its work", true);
  }

  async stop(): Promise<void> {
    this.#agent.end("it was stopped", true);
  }

  leave(): void {
    this.#isLeft = true;
    this.#wake();
  }
}
