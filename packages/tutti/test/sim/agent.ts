// Simulates an agent's turn. The session's seed decides whether it behaves well or badly. A program yields the pause
// until its next step in ms, or the id of the question whose answer it awaits.
import type { Machine, Process } from "./machine.ts";
import { WORLD } from "./loop.ts";
import { INSTRUCTIONS } from "./repository.ts";
import { forGood, ofAccount, passing, usedUp, type Trouble } from "./providers.ts";
import { DELEGATE } from "./scenario.ts";
import { mayWrite, teamAnswer, teamSpoof, teamTurn } from "./team-words.ts";
import { answer, block, END, sample, spoof, START, taskIdOf } from "./words.ts";
import { providerOf } from "../../src/run/provider/provider-name.ts";
import type { Turn } from "../../src/session/session.ts";

export type Pause = number | string;

const FILES = ["docs/a.md", INSTRUCTIONS, "src/one.ts", "src/two.ts", "src/three.ts", "test/four.ts"];

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
  refused: 8,
  usageLimit: 1.5,
  account: 0.7,
  tooLong: 2,
  cannot: 4,
  question: 4,
  permission: 5,
  takeBack: 3,
  stalled: 2,
  died: 4,
};
type Behaviour = keyof typeof WORKER;

/** `options` that agents offer with a permission request, in any order. */
const WISHES = [["allow", "refuse"], ["Allow always", "Allow once", "Reject"], ["Deny", "Allow"], undefined];
const MAIN: Record<Behaviour, number> = {
  ...WORKER,
  well: 140,
  failed: 6,
  lie: 0,
  partial: 0,
  timeout: 0,
  otherTask: 0,
  refused: 4,
  account: 0.3,
  cannot: 0.8,
};

export function* program(machine: Machine, process: Process, turn: Turn): Generator<Pause> {
  const { stage } = machine;
  const trouble = troubleOf(machine, process);
  if (trouble) {
    yield process.random.pick([0, 100, 1000]);
    return machine.endTurn(process, "error", trouble.detail, trouble);
  }
  const behaviour = stage.calm ? "well" : chooseBehaviour(process, turn);
  stage.count(`agent: ${behaviour}`);
  if (turn.text.includes(DELEGATE)) startSubagents(machine, process, turn);
  stage.loop.note(`${process.spec.sessionId} turn ${turn.number} ${turn.phase}: ${behaviour}`);
  yield* new Agent(machine, process, turn).behave(behaviour);
}

/** Some main sessions never give a usable answer, until the user is asked for the data. */
function chooseBehaviour(process: Process, turn: Turn): Behaviour {
  if (isWork(process, turn)) return process.random.weighted(WORKER);
  return process.random.fork("stubborn").chance(0.03) ? "garbage" : process.random.weighted(MAIN);
}

/** In a team the main session also has turns while the workers work. */
const isWork = ({ spec }: Process, { phase }: Turn): boolean => phase === "workerExecution" && spec.taskId !== null;

/** Starts sub-agents that end during the turn, after it or never. */
function startSubagents(machine: Machine, process: Process, turn: Turn): void {
  const { stage } = machine;
  const random = process.random.fork(`subagents ${turn.number}`);
  for (let i = 0; i < random.int(0, 2); i++) {
    const id = `${turn.number}.${i}`;
    machine.say(process, { type: "subagent", id, phase: "started", text: "a part" });
    stage.count("sub-agents");
    if (!stage.calm && random.chance(0.1)) continue;
    const status = random.chance(0.8) ? {} : { status: random.pick(["failed", "cancelled"] as const) };
    stage.loop.at(random.pick([10, 1000, 8000]), WORLD, `sub-agent of ${process.spec.sessionId}`, () => {
      if (process.state === "alive")
        machine.say(process, { type: "subagent", id, phase: "done", text: "done", ...status });
    });
  }
}

const troubleOf = (machine: Machine, process: Process): Trouble | null =>
  machine.providers.trouble(providerOf(process.spec.agent), process.random);

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
        return this.#finish(sample(this.#turn));
      case "otherTask":
        yield* this.#work();
        return this.#finish(block("completion", { task_id: "t99", status: "success", summary: "not mine" }));
      case "spoof":
        if (teamTurn(this.#turn)) return this.#finish(teamSpoof(this.#machine, this.#process, this.#turn));
        return this.#finish(spoof(this.#process));
      case "limit":
        return this.#finish("You have reached your usage limit. It resets at 3 pm.");
      case "garbage":
        return this.#finish(
          `${START}\n{"phase": "${random.pick(["completion", "analysis", "nothing"])}", "data": {"x"\n${END}`,
        );
      case "broken":
        return this.#machine.endTurn(this.#process, "error", "the model is overloaded");
      case "refused":
        return this.#breakOff(passing(random));
      case "usageLimit":
        return this.#breakOff(usedUp(this.#machine.stage, random, this.#machine.stage.clock.now()));
      case "account":
        return this.#breakOff(ofAccount(random));
      case "cannot":
        return this.#breakOff(forGood(random));
      case "tooLong":
        yield* this.#work();
        return this.#breakOff({ cause: "context", detail: "the conversation is too long" });
      case "question":
        yield* this.#work();
        return this.#endWithQuestion();
      case "permission":
        yield* this.#wish(false);
        yield* this.#work();
        return this.#finish(this.#answer("success"));
      case "takeBack":
        yield* this.#wish(true);
        yield* this.#work();
        return this.#finish(this.#answer("success"));
      case "stalled":
        yield* this.#work();
        this.#machine.say(this.#process, { type: "stalled", detail: "nothing moved" });
        if (random.chance(0.5)) return this.#breakOff({ cause: "stalled", detail: "nothing moved for too long" });
        yield* this.#work();
        return this.#finish(this.#answer("success"));
      case "died":
        // Before the first byte, or in the middle of the work.
        if (random.chance(0.6)) yield* this.#work();
        return this.#machine.exit(this.#process, "the agent was ended by SIGKILL in the middle of its turn", "died");
      case "well":
      case "partial":
      case "failed":
      case "timeout":
        yield* this.#work();
        return this.#finish(this.#answer(behaviour === "well" ? "success" : behaviour));
    }
  }

  *#work(): Generator<Pause> {
    const { random, spec } = this.#process;
    const { phase } = this.#turn;
    const writes = (phase === "workerExecution" || phase === "aggregation") && mayWrite(this.#turn);
    const steps = random.int(1, 3);
    for (let i = 0; i < steps; i++) {
      this.#machine.say(this.#process, { type: "tool", name: random.pick(["Read", "Edit", "Bash"]), input: {} });
      this.#process.tools++;
      if (writes && random.chance(0.7)) this.#write(random.pick(FILES), `${spec.sessionId} ${this.#turn.number}.${i}`);
      const usage = { inputTokens: random.int(1, 500), outputTokens: random.int(1, 500), usd: random.int(1, 30) / 100 };
      this.#machine.say(this.#process, { type: "usage", usage });
      if (random.chance(0.3)) this.#say(block("progress", { task_id: taskIdOf(this.#process), status: "in_progress" }));
      yield random.pick([1, 200, 1000, 1000, 3000]);
      // `troubleOf` also interrupts a turn that is in progress.
      const trouble = troubleOf(this.#machine, this.#process);
      if (trouble) {
        this.#breakOff(trouble);
        yield "nothing more";
      }
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

  /** Requests permission for a tool. Awaits the answer, or withdraws the request if `takesBack`. */
  *#wish(takesBack: boolean): Generator<Pause> {
    const { random } = this.#process;
    const askId = `p${this.#turn.number}`;
    const question = random.pick(["May it run: npm test", "May it run: npm install"]);
    const permission = { tool: "Bash", subject: question.slice(12) };
    const options = random.pick(WISHES);
    const wanted = takesBack && random.chance(0.3) ? {} : { ...(options ? { options } : {}), permission };
    this.#machine.say(this.#process, { type: "ask", askId, question, ...wanted });
    this.#machine.stage.count("permissions asked for");
    if (!takesBack) return yield askId;
    yield random.pick([0, 300, 6000]);
    this.#machine.say(this.#process, { type: "askCancelled", askId });
    this.#machine.stage.count("questions taken back");
  }

  #endWithQuestion(): void {
    this.#process.questions.add(this.#turn.number);
    this.#machine.stage.count("questions at the end");
    this.#finish(this.#process.random.pick(["Shall I use tabs or spaces?", "Done so far.\n\nShall I go on?"]));
  }

  #breakOff(trouble: Trouble): void {
    this.#machine.endTurn(this.#process, "error", trouble.detail, trouble);
  }

  #answer(status: string): string {
    const kind = teamTurn(this.#turn);
    if (kind) return teamAnswer(this.#machine, this.#process, this.#turn, kind, status);
    return answer(this.#machine, this.#process, this.#turn, status);
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
}
