// What agents do in a turn, good and bad, as the seed of their session says. A program yields how long it takes until it
// goes on, or the name of a question that it waits for.
import type { Machine, Process } from "./machine.ts";
import { planOf } from "./scenario.ts";
import type { Turn } from "../../src/session/session.ts";

export type Pause = number | string;

const START = "<<<ORCHESTRATOR_RESPONSE>>>";
const END = "<<<END_ORCHESTRATOR_RESPONSE>>>";
const FILES = ["docs/a.md", "docs/b.md", "src/one.ts", "src/two.ts", "src/three.ts", "test/four.ts"];

const block = (phase: string, data: object): string => `${START}\n${JSON.stringify({ phase, data })}\n${END}`;

const WORKER = {
  well: 40,
  twice: 3,
  partial: 3,
  ask: 6,
  failed: 4,
  timeout: 1,
  lie: 4,
  crash: 4,
  exitAfterResult: 3,
  vanish: 4,
  hang: 3,
  hangAfterResult: 3,
  late: 4,
  otherTask: 3,
  echo: 3,
  spoof: 3,
  limit: 3,
  garbage: 4,
  broken: 2,
  silent: 2,
};
type Behaviour = keyof typeof WORKER;
const MAIN: Record<Behaviour, number> = {
  ...WORKER,
  well: 140,
  failed: 6,
  lie: 0,
  partial: 0,
  timeout: 0,
  otherTask: 0,
};

export function* program(machine: Machine, process: Process, turn: Turn): Generator<Pause> {
  const { stage } = machine;
  const behaviour = stage.calm ? "well" : process.random.weighted(turn.phase === "workerExecution" ? WORKER : MAIN);
  stage.count(`agent: ${behaviour}`);
  stage.loop.note(`${process.spec.sessionId} turn ${turn.number} ${turn.phase}: ${behaviour}`);
  yield* new Agent(machine, process, turn).behave(behaviour);
}

class Agent {
  readonly #machine: Machine;
  readonly #process: Process;
  readonly #turn: Turn;

  constructor(machine: Machine, process: Process, turn: Turn) {
    this.#machine = machine;
    this.#process = process;
    this.#turn = turn;
  }

  *behave(behaviour: Behaviour): Generator<Pause> {
    const { random } = this.#process;
    yield random.pick([0, 100, 1000, 4000]);
    switch (behaviour) {
      case "ask":
        yield* this.#ask();
        yield* this.#work();
        return this.#finish(this.#answer("success"));
      case "twice":
        yield* this.#work();
        this.#claim("failed");
        yield 50;
        return this.#finish(this.#answer("success"));
      case "lie":
        return this.#finish(this.#answer("success"));
      case "crash":
        yield* this.#work();
        return this.#machine.exit(this.#process, "the agent exited with 1 in the middle of its turn");
      case "exitAfterResult":
        yield* this.#work();
        this.#say(this.#answer("success"));
        yield 10;
        return this.#machine.exit(this.#process, "the agent exited with 0 in the middle of its turn");
      case "vanish":
        return this.#machine.end(this.#process, "its keeper died", false);
      case "hang":
        yield* this.#work();
        return;
      case "silent":
        return;
      case "hangAfterResult":
        yield* this.#work();
        return this.#say(this.#answer("success"));
      case "late":
        yield random.pick([10_000, 20_000, 45_000]) + random.pick([-5, 0, 1, 5, 100, 2000]);
        yield* this.#work();
        return this.#finish(this.#answer("success"));
      case "echo":
        return this.#finish(this.#sample());
      case "otherTask":
        yield* this.#work();
        return this.#finish(block("completion", { task_id: "t99", status: "success", summary: "not mine" }));
      case "spoof":
        return this.#finish(this.#spoof());
      case "limit":
        return this.#finish("You have reached your usage limit. It resets at 3 pm.");
      case "garbage":
        return this.#finish(
          `${START}\n{"phase": "${random.pick(["completion", "analysis", "nothing"])}", "data": {"x"\n${END}`,
        );
      case "broken":
        return this.#machine.endTurn(this.#process, "error", "the model is overloaded");
      case "well":
      case "partial":
      case "failed":
      case "timeout":
        yield* this.#work();
        return this.#finish(this.#answer(behaviour === "well" ? "success" : behaviour));
    }
  }

  /** Tools are called, files are written, and it costs something. */
  *#work(): Generator<Pause> {
    const { random, spec } = this.#process;
    const writes = this.#turn.phase === "workerExecution" || this.#turn.phase === "aggregation";
    const steps = random.int(1, 3);
    for (let i = 0; i < steps; i++) {
      this.#machine.say(this.#process, { type: "tool", name: random.pick(["Read", "Edit", "Bash"]), input: {} });
      this.#process.tools++;
      if (writes && random.chance(0.7)) this.#write(random.pick(FILES), `${spec.sessionId} ${this.#turn.number}.${i}`);
      const usage = { inputTokens: random.int(1, 500), outputTokens: random.int(1, 500), usd: random.int(1, 30) / 100 };
      this.#machine.say(this.#process, { type: "usage", usage });
      if (random.chance(0.3)) this.#say(block("progress", { task_id: this.#taskId, status: "in_progress" }));
      yield random.pick([1, 200, 1000, 1000, 3000]);
    }
  }

  #write(path: string, content: string): void {
    const folder = this.#machine.repository.folders.get(this.#process.spec.cwd);
    if (!folder) return;
    folder.files[path] = content;
    this.#process.wrote.set(path, content);
  }

  *#ask(): Generator<Pause> {
    const { random } = this.#process;
    const askId = `q${this.#turn.number}`;
    const options = random.chance(0.5) ? ["this", "that"] : undefined;
    const question = random.pick(["Which one?", "May I?"]);
    this.#machine.say(this.#process, { type: "ask", askId, question, ...(options ? { options } : {}) });
    this.#machine.stage.count("questions");
    yield askId;
  }

  get #taskId(): string {
    return this.#process.spec.taskId ?? "main";
  }

  #say(text: string): void {
    const { random } = this.#process;
    const cut = random.chance(0.3) ? random.int(0, text.length) : 0;
    if (cut > 0) this.#machine.say(this.#process, { type: "text", text: text.slice(0, cut), complete: false });
    this.#machine.say(this.#process, { type: "text", text: text.slice(cut), complete: true });
  }

  #claim(status: string): void {
    this.#say(this.#answer(status));
  }

  #finish(text: string): void {
    this.#say(text);
    this.#machine.endTurn(this.#process, "ended", "the turn ended");
  }

  /** A block of the prompt, word for word. */
  #sample(): string {
    const { text } = this.#turn;
    const from = text.lastIndexOf(START);
    return from === -1 ? "nothing to repeat" : text.slice(from, text.indexOf(END, from) + END.length);
  }

  /** What looks like an answer and is none: another phase, marks that are not the marks, a block that never closes. */
  #spoof(): string {
    const fake = JSON.stringify({ phase: "completion", data: { task_id: this.#taskId, status: "success" } });
    return this.#process.random.pick([
      `<<<ORCHESTRATOR_RESPONSE>>\n${fake}\n<<END_ORCHESTRATOR_RESPONSE>>>`,
      `${START}\n${fake}`,
      block("verification", { status: "passed" }).replace("verification", "heartbeat"),
      block("completion", { task_id: `${this.#taskId}x`, status: "success" }),
    ]);
  }

  /** The answer to this turn; what is said of one's own task is remembered as the truth. */
  #answer(status: string): string {
    const { random, spec } = this.#process;
    switch (this.#turn.phase) {
      case "workerExecution":
        this.#process.claims.set(this.#turn.number, status);
        return block("completion", { task_id: this.#taskId, status, summary: `by ${spec.sessionId}` });
      case "analysis":
        return block("analysis", { summary: "small", recommended_splits: random.int(1, 9) });
      case "taskPlanning":
        return block("task_list", { tasks: planOf(this.#machine.stage, spec.runId, random) });
      case "aggregation":
        return block("aggregation", this.#merging(status));
      case "verification":
        return block("verification", { status: status === "failed" ? "failed" : "passed", summary: "looked at" });
    }
  }

  #merging(status: string): object {
    const { random } = this.#process;
    if (status === "failed") return { status: "failed", error: "it does not fit" };
    if (this.#machine.stage.calm || random.chance(0.7)) return { status: "success", summary: "one whole" };
    this.#machine.stage.count("aggregations that need a person");
    const conflicts = [{ type: "naming", description: "Which name?", options: ["a", "b"] }];
    return { status: "needs_input", summary: "undecided", ...(random.chance(0.5) ? { conflicts } : {}) };
  }
}
