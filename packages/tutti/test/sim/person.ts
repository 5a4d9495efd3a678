// Simulates the user: confirms, answers, pauses, resumes, retries, decides and cancels, sometimes twice or at the wrong
// time. In the calm phase the user only helps.
import { WORLD } from "./loop.ts";
import type { Random } from "./random.ts";
import type { Stage } from "./stage.ts";
import type { Engine } from "../../src/engine/engine.ts";
import type { OrderInput } from "../../src/schema/api/orders.ts";
import { workersOf } from "../../src/run/lookup.ts";
import { TuttiError } from "../../src/schema/error.ts";
import type { InboxItem, PersonAnswer } from "../../src/schema/inbox.ts";
import type { Outcome } from "../../src/schema/outcome.ts";
import type { Run } from "../../src/schema/run.ts";
import { isRunOver } from "../../src/schema/status.ts";

export interface PersonOptions {
  stage: Stage;
  engine(): Engine | null;
  wanted: number;
  forks: number;
  runs(): Iterable<string>;
  /** Called with the result of a successful command. */
  acknowledged(run: Run): void;
  lookedAt(outcome: Outcome): void;
}

type Order = [name: string, give: (engine: Engine) => Promise<unknown>];

/** Error codes with which a command may be rejected. Any other code is a bug. */
const EXPECTED = new Set([
  "wrong_state",
  "invalid_input",
  "invalid_plan",
  "item_not_found",
  "task_not_found",
  "worker_not_found",
  "run_not_found",
  "budget_exhausted",
  "storage_failed",
  "disk_full",
  "engine_stopped",
  "git_failed",
  "workspace_failed",
  "gate_closed",
]);

/** Answer data that fits every phase. */
const BY_HAND = {
  summary: "by hand",
  recommended_splits: 2,
  status: "success",
  tasks: [{ id: "t0", title: "By hand", description: "what the person wants" }],
};

export class Person {
  readonly #options: PersonOptions;
  readonly #random: Random;
  readonly #whim: Random;
  #created = 0;
  #forked = 0;

  constructor(options: PersonOptions) {
    this.#options = options;
    this.#random = options.stage.random.fork("person");
    this.#whim = options.stage.random.fork("forks");
    this.#later();
    this.#forkLater();
  }

  get #calm(): boolean {
    return this.#options.stage.calm;
  }

  get isDone(): boolean {
    return this.#created >= this.#options.wanted;
  }

  #later(): void {
    const delay = this.#random.pick(this.#calm ? [3000, 8000] : [50, 500, 2000, 5000, 12_000]);
    this.#options.stage.loop.at(delay, WORLD, "person", () => {
      const engine = this.#options.engine();
      if (engine) this.#act(engine);
      this.#later();
    });
  }

  /** Uses its own random stream, so that forks do not change the other choices of a seed. */
  #forkLater(): void {
    if (this.#forked >= this.#options.forks) return;
    this.#options.stage.loop.at(this.#whim.pick([2000, 6000, 15_000]), WORLD, "fork", () => {
      const engine = this.#options.engine();
      const runs = [...this.#options.runs()]
        .flatMap((id) => engine?.get(id) ?? [])
        .filter(({ tasks }) => tasks.length > 0);
      if (engine && runs.length > 0 && !this.#calm) {
        this.#forked++;
        this.#give(engine, this.#fork(this.#whim.pick(runs)));
      }
      if (!this.#calm) this.#forkLater();
    });
  }

  #fork({ id, runSeq }: Run): Order {
    const at = this.#whim.int(1, runSeq);
    const fresh = this.#whim.chance(0.15);
    const give = async (engine: Engine): Promise<Run> => {
      const fork = await engine.fork(id, at, { fresh });
      return engine.activate(fork.id);
    };
    return ["fork", give];
  }

  #act(engine: Engine): void {
    if (!this.isDone && (this.#calm || this.#random.chance(0.6))) return this.#create();
    const runs = [...this.#options.runs()].flatMap((id) => engine.get(id) ?? []);
    if (this.#calm) {
      for (const run of runs) for (const order of this.#helpful(run)) this.#give(engine, order);
      return;
    }
    if (runs.length === 0) return;
    const run = this.#random.pick(runs);
    const useful = this.#helpful(run);
    const order = useful.length > 0 && this.#random.chance(0.75) ? this.#random.pick(useful) : this.#anything(run);
    if (!order) return;
    this.#give(engine, order);
    if (this.#random.chance(0.1)) this.#give(engine, order);
  }

  #create(): void {
    const number = this.#created++;
    const make = async (engine: Engine): Promise<Run> => {
      const { id } = await engine.create({ templateId: `t${number}`, cwd: "/repo", message: "do it", agent: "sim" });
      return engine.order(id, "start");
    };
    this.#give(this.#options.engine()!, ["create", make]);
  }

  #give(engine: Engine, [name, give]: Order): void {
    const { stage } = this.#options;
    const succeeded = (answer: unknown) => {
      stage.loop.note(`person: ${name} is done`);
      stage.count(`order: ${name}`);
      if (typeof answer === "object" && answer !== null && "runSeq" in answer)
        this.#options.acknowledged(answer as Run);
    };
    const refused = (error: unknown) => {
      const code = error instanceof TuttiError ? error.code : "none";
      stage.loop.note(`person: ${name} is refused with ${code}: ${String(error).slice(0, 150)}`);
      stage.count("orders refused");
      if (!EXPECTED.has(code)) stage.fail("orders", `${name} was answered with ${String(error)}`);
    };
    stage.loop.note(`person: ${name}`);
    try {
      give(engine).then(succeeded, refused);
    } catch (error) {
      refused(error);
    }
  }

  #helpful(run: Run): Order[] {
    const { id, status } = run;
    if (status === "created") return [["start", (engine) => engine.order(id, "start")]];
    const items = Object.values(run.inbox);
    // An answer to an item of a finished run reopens it, so the `#calm` phase does not answer.
    const open = isRunOver(status) ? items.filter(() => !this.#calm) : items;
    const orders = open.filter(({ kind }) => kind !== "plan").map((item) => this.#answer(id, item));
    if (status === "confirming") orders.push(this.#confirm(run));
    const waits = items.some(({ kind }) => kind === "decision" || kind === "budget");
    if (status === "paused" && !waits) orders.push(["resume", (engine) => this.#resume(engine, id)]);
    for (const { pausedBy, sessionId } of workersOf(run)) {
      if (pausedBy !== "person" || status === "paused" || isRunOver(status)) continue;
      orders.push(["resumeWorker", (engine) => engine.resumeWorker(id, sessionId)]);
    }
    return orders;
  }

  /**
   * A run whose budget ran out while it was paused has no inbox item and cannot be resumed. It can only be cancelled.
   */
  async #resume(engine: Engine, id: string): Promise<Run> {
    try {
      this.#options.stage.resumed.add(id);
      return await engine.order(id, "resume");
    } catch (error) {
      if (!this.#calm || !(error instanceof TuttiError) || error.code !== "budget_exhausted") throw error;
      this.#options.stage.count("resumes without a way on");
      return engine.order(id, "cancel");
    }
  }

  /** Also resumes a run that is paused for its provider. */
  #retry(engine: Engine, id: string, taskId: string | null): Promise<Run> {
    this.#options.stage.resumed.add(id);
    return engine.order(id, "retry", { taskId });
  }

  #pause(engine: Engine, run: Run): Promise<Run> {
    const paused = engine.order(run.id, "pause");
    // Planted: acknowledges before the write is on disk.
    if (this.#options.stage.has("order-acknowledged-early"))
      this.#options.acknowledged({ ...run, runSeq: run.runSeq + 1 });
    return paused;
  }

  #override(engine: Engine, id: string): Promise<Run> {
    this.#options.stage.overridden.add(id);
    return engine.overrideGate(id, "staging", "somebody", "it cannot wait");
  }

  #confirm(run: Run): Order {
    const { id } = run;
    if (run.planErrors.length > 0) {
      if (this.#random.chance(0.3)) return ["cancel", (engine) => engine.order(id, "cancel")];
      return ["request changes", (engine) => engine.order(id, "requestChanges", { text: "without a circle" })];
    }
    if (!this.#calm && this.#random.chance(0.1)) {
      return ["request changes", (engine) => engine.order(id, "requestChanges", { text: "smaller" })];
    }
    const changes = !this.#calm && this.#random.chance(0.3) ? this.#changes(run) : {};
    const give = (engine: Engine) => {
      this.#options.stage.confirmed.add(id);
      return engine.order(id, "confirm", changes);
    };
    return ["confirm", give];
  }

  #changes(run: Run): OrderInput<"confirm"> {
    const task = this.#random.pick(run.tasks);
    const added = {
      id: `t${run.tasks.length}`,
      title: "One more",
      description: "what the person wants besides",
      scope: [],
      priority: 5,
      dependencies: [task.id],
    };
    return this.#random.pick<OrderInput<"confirm">>([
      { modifications: { [task.id]: { skip: true, satisfied: this.#random.chance(0.5) } } },
      { modifications: { [task.id]: { priority: 1, title: "Renamed" } } },
      { added: [added] },
      { removed: [task.id] },
      { budget: { turns: 30 } },
    ]);
  }

  #answer(id: string, item: InboxItem): Order {
    if (item.kind === "decision" && this.#random.chance(0.4)) {
      return [
        "decide",
        (engine) => engine.order(id, "decide", { decisions: [{ index: item.index!, text: "the first" }] }),
      ];
    }
    const answers: Record<InboxItem["kind"], readonly PersonAnswer[]> = {
      plan: [{ approve: true }],
      permission: [{ approve: true }, { approve: false }, { text: "use npx instead" }],
      limit: [{ approve: true }],
      question: item.options ? [{ option: 0 }, { option: 1 }, { text: "neither" }] : [{ text: "yes" }],
      data: [{ data: BY_HAND }, { option: 0 }],
      blocker: item.options && !this.#calm ? [{ text: "go on" }, { option: 1 }] : [{ text: "go on" }],
      gate: this.#calm ? [{ option: 1 }] : [{ option: 0 }, { option: 1 }],
      host: [{ option: 0 }],
      validation: this.#calm ? [{ approve: true }] : [{ approve: true }, { text: "once more" }],
      decision: item.options ? [{ option: 0 }, { text: "the first" }] : [{ text: "the first" }],
      budget: [{ approve: true }, { option: 0 }, { data: { usd: 1000, turns: 1000, tokens: 10_000_000 } }],
      // In the calm phase every session answers, so the main session gets another attempt.
      failure: this.#calm ? [{ option: item.taskId === null ? 0 : 1 }] : [{ option: 0 }, { option: 1 }],
    };
    const answer = { ...this.#random.pick(answers[item.kind]), hash: item.hash };
    const give = (engine: Engine) => {
      this.#options.stage.answered.add(item.id);
      if ("approve" in answer && answer.approve) this.#options.stage.allowed.add(item.id);
      return engine.answer(item.id, answer);
    };
    return [`answer ${item.kind}`, give];
  }

  #anything(run: Run): Order | null {
    const { id } = run;
    const workers = workersOf(run);
    const worker = workers.length > 0 ? this.#random.pick(workers) : null;
    const task = run.tasks.length > 0 ? this.#random.pick(run.tasks) : null;
    const what = this.#random.weighted({
      pause: 5,
      resume: 3,
      confirm: 1,
      cancel: 0.4,
      pauseWorker: 4,
      resumeWorker: 2,
      cancelWorker: 1,
      retry: 4,
      retryMain: 2,
      decide: 1,
      answer: 1,
      look: 2,
      override: run.template.gate ? 2 : 0,
      cleanup: 0.7,
      none: 10,
    });
    switch (what) {
      case "pause":
        return ["pause", (engine) => this.#pause(engine, run)];
      case "resume":
        return ["resume", (engine) => this.#resume(engine, id)];
      case "cancel":
        return ["cancel", (engine) => engine.order(id, "cancel")];
      case "confirm":
        return ["confirm", (engine) => engine.order(id, "confirm", { hash: "another plan" })];
      case "pauseWorker":
      case "resumeWorker":
      case "cancelWorker":
        return worker && [what, (engine) => engine[what](id, worker.sessionId)];
      case "retry":
        return task && ["retry", (engine) => this.#retry(engine, id, task.id)];
      case "retryMain":
        return ["retry the main session", (engine) => this.#retry(engine, id, null)];
      case "decide":
        return ["decide", (engine) => engine.order(id, "decide", { decisions: [{ index: 0, option: 0 }] })];
      case "answer":
        return ["answer nothing", async (engine) => engine.answer("item_nothing", { text: "yes" })];
      case "look":
        return ["look", async (engine) => this.#options.lookedAt(await engine.result(id))];
      case "override":
        return ["override the gate", (engine) => this.#override(engine, id)];
      case "cleanup": {
        const options = { deleteWorkers: this.#random.chance(0.5), removeState: this.#random.chance(0.5) };
        return ["cleanup", (engine) => engine.cleanup(id, options)];
      }
      case "none":
        return null;
    }
  }
}
