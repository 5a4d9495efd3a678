// Plays the scenarios of scenarios.ts as a session controller in this process. It starts no program, and a held worker
// answers when the test releases it.
import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { block, FakeController, type FakeSession } from "../session/fake-controller.ts";

interface Match {
  role?: string;
  task?: string;
  phase?: string;
  attempt?: number;
}

interface ScriptedTurn {
  say?: string;
  tools?: string[];
  write?: Record<string, string>;
  block?: { phase: string; data: object };
  /** The turn stops after the output so far and never answers. */
  then?: "hang";
}

interface ScriptedSession {
  match: Match;
  turns: ScriptedTurn[];
}

interface Asked extends Required<Match> {
  title: string;
}

export class ScriptedController extends FakeController {
  readonly #script: ScriptedSession[];
  readonly #turns = new Map<string, number>();
  readonly #held = new Map<string, (() => void)[]>();

  constructor(script: object[]) {
    super((session, message) => this.#hear(session, message));
    this.#script = script as ScriptedSession[];
  }

  /** From now on, the workers of the task answer only after `release`. */
  hold(task: string): void {
    this.#held.set(task, this.#held.get(task) ?? []);
  }

  /** Lets current and future workers of the task answer. */
  release(task: string): void {
    const waiting = this.#held.get(task) ?? [];
    this.#held.delete(task);
    for (const answer of waiting) answer();
  }

  #hear(session: FakeSession, message: string): null {
    session.says = { isReady: true };
    const asked = readMessage(session, message);
    const entry = this.#script.find(({ match }) => fits(match, asked));
    // The main session gets several prompts, one for each phase.
    const key = `${session.id} ${asked.phase}`;
    const count = this.#turns.get(key) ?? 0;
    this.#turns.set(key, count + 1);
    const turn = entry?.turns[Math.min(count, entry.turns.length - 1)];
    if (!turn) throw new Error(`the script has nothing for ${JSON.stringify(asked)}`);
    // The output of the agent follows the prompt.
    queueMicrotask(() => {
      const waiting = this.#held.get(asked.task);
      if (waiting) waiting.push(() => this.#play(session, turn, asked));
      else this.#play(session, turn, asked);
    });
    return null;
  }

  #play(session: FakeSession, turn: ScriptedTurn, asked: Asked): void {
    const fill = (text: string) => text.replaceAll("{TASK_ID}", asked.task).replaceAll("{TASK_TITLE}", asked.title);
    for (const [name, text] of Object.entries(turn.write ?? {})) {
      const file = join(session.cwd, fill(name));
      mkdirSync(dirname(file), { recursive: true });
      writeFileSync(file, fill(text));
    }
    const uses = (turn.tools ?? []).map((name) => ({ type: "tool_use", name, input: {} }));
    if (uses.length > 0) this.#tell(session, uses, turn.then === "hang" || turn.block !== undefined);
    const said = [turn.say, turn.block && block(turn.block.phase, turn.block.data)].filter(
      (text) => text !== undefined,
    );
    if (said.length > 0) this.#tell(session, fill(said.join("\n")), turn.then === "hang");
  }

  /** A message that is not the last one is complete; the result of a tool follows it. */
  #tell(session: FakeSession, content: unknown, isFollowed: boolean): void {
    this.say(session, "assistant", content);
    if (isFollowed) this.say(session, "user", [{ type: "tool_result" }]);
  }
}

/** Extracts the role, task and phase from a prompt. */
function readMessage({ cwd }: FakeSession, message: string): Asked {
  const [, phase = ""] = /End with the "(\w+)" block/.exec(message) ?? [];
  const [, task = "main", title = ""] = /^Task (\S+): (.*)$/m.exec(message) ?? [];
  const [, attempt = "1"] = /-(\d+)$/.exec(cwd) ?? [];
  return { role: phase === "completion" ? "worker" : "main", phase, task, title, attempt: Number(attempt) };
}

const fits = (match: Match, asked: Asked): boolean =>
  Object.entries(match).every(([name, value]) => value === "*" || value === asked[name as keyof Match]);
