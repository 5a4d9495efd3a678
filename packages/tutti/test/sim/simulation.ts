// One simulation: the real engine in a world of chance, first with everything that can go wrong, then in calm, in which
// every run has to come to its end.
import { checkBatch, type Checked } from "./check/log-checks.ts";
import { EngineChecks } from "./check/engine-checks.ts";
import { clockWasSetUnseen } from "./check/time-checks.ts";
import { checkNothingLeft, checkWorld } from "./check/world-checks.ts";
import { Effects } from "./effects.ts";
import { SimHooks } from "./hooks.ts";
import { WORLD } from "./loop.ts";
import { Machine } from "./machine.ts";
import { Person } from "./person.ts";
import { plant } from "./planted-rules.ts";
import { RULE_BUGS, type BugName, type RuleBug } from "./planted.ts";
import type { Random } from "./random.ts";
import { Repository } from "./repository.ts";
import { drawScenario, simTemplates, type Scenario } from "./scenario.ts";
import { SimHost } from "./sim-host.ts";
import { SimSnapshots } from "./sim-snapshots.ts";
import { Disk, SimStore } from "./sim-store.ts";
import { simWorkspaces } from "./sim-workspaces.ts";
import { simWorld } from "./sim-world.ts";
import { Stage } from "./stage.ts";
import type { Violation } from "./violation.ts";
import { Engine, type Listener } from "../../src/engine/engine.ts";
import type { StoredEvent } from "../../src/schema/event.ts";
import { isRunOver } from "../../src/schema/status.ts";

export interface SimulationOptions {
  seed: number;
  /** Steps after which the engine dies. Without them it dies by chance. */
  kills?: readonly number[];
  /** The engine never dies by chance, also if no step is named. */
  noCrashes?: boolean;
  bug?: BugName | null;
}

export interface SimulationResult {
  violation: Violation | null;
  steps: number;
  /** Steps until things calmed down. */
  roughSteps: number;
  /** When the engine died, and the step from which the next one had taken up all runs. */
  crashes: number[];
  log: string[];
  counts: ReadonlyMap<string, number>;
}

/** In calm everything ends within this virtual time, or never will. */
const PATIENCE_MS = 3_600_000;
const MAX_STEPS = 60_000;
const QUIET_MS = 60_000;

/** A clock that was set is noticed within this time. */
const UNSEEN_MS = 15_000;

interface Life {
  engine: Engine;
  host: SimHost;
  owner: number;
  checks: EngineChecks;
  halted: boolean;
}

export class Simulation {
  readonly #options: SimulationOptions;
  readonly #stage: Stage;
  readonly #scenario: Scenario;
  readonly #repository = new Repository();
  readonly #machine: Machine;
  readonly #disk: Disk;
  readonly #hooks: SimHooks;
  readonly #checked: Checked;
  readonly #person: Person;
  readonly #fate: Random;
  readonly #ids: Random;
  readonly #crashes: number[] = [];
  #life: Life | null = null;
  #owners = 0;
  #overSince: number | null = null;
  #closing = false;

  constructor(options: SimulationOptions) {
    this.#options = options;
    const { bug = null } = options;
    plant(bug !== null && bug in RULE_BUGS ? (bug as RuleBug) : null);
    const stage = new Stage(String(options.seed), bug);
    this.#stage = stage;
    this.#scenario = drawScenario(stage.random.fork("scenario"));
    this.#machine = new Machine(stage, this.#repository);
    this.#disk = new Disk(stage);
    this.#fate = stage.random.fork("fate");
    this.#ids = stage.random.fork("ids");
    this.#checked = {
      stage,
      machine: this.#machine,
      repository: this.#repository,
      ledgers: new Map(),
      serverCap: this.#scenario.serverCap,
    };
    this.#disk.onCommit = (events) => checkBatch(this.#checked, events);
    const isRecorded = (run: string, cause: number) =>
      [...(this.#checked.ledgers.get(run)?.hooks ?? [])].some((key) => key.endsWith(` ${cause}`));
    this.#hooks = new SimHooks(stage, isRecorded);
    this.#person = new Person({
      stage,
      engine: () => (this.#life?.halted === false && !this.#closing ? this.#life.engine : null),
      wanted: this.#scenario.runs,
      runs: () => this.#checked.ledgers.keys(),
      acknowledged: (run) => this.#life?.checks.acknowledged(run),
      lookedAt: (outcome) => this.#life?.checks.lookedAt(outcome),
    });
  }

  async run(): Promise<SimulationResult> {
    const { loop } = this.#stage;
    loop.note(JSON.stringify(this.#scenario));
    this.#open();
    await this.#steps(() => loop.steps >= this.#scenario.roughSteps || this.#isQuiet());
    const roughSteps = loop.steps;
    this.#calmDown();
    const until = loop.now + PATIENCE_MS;
    await this.#steps(() => this.#isOver() || loop.now > until || loop.steps > MAX_STEPS);
    if (!this.#isOver()) this.#stage.fail("I20", `not over: ${this.#standing()}`);
    if (!this.#stage.violation) checkNothingLeft(this.#checked);
    const { violation, counts } = this.#stage;
    return { violation, steps: loop.steps, roughSteps, crashes: this.#crashes, log: loop.log, counts };
  }

  async #steps(enough: () => boolean): Promise<void> {
    const { loop } = this.#stage;
    while (!this.#stage.violation && !enough() && (await loop.step())) {
      this.#check();
      this.#disturb();
    }
  }

  #check(): void {
    if (this.#life && !this.#life.halted) this.#life.checks.check(this.#life.engine);
    checkWorld(this.#checked);
  }

  #calmDown(): void {
    this.#stage.loop.note("from here on nothing goes wrong");
    this.#stage.calm = true;
  }

  #isOver(): boolean {
    const { ledgers } = this.#checked;
    const runs = [...ledgers.values()];
    return this.#person.isDone && runs.every(({ run }) => run && isRunOver(run.status) && run.released);
  }

  /** Everything has been over for so long that nobody will open it again. */
  #isQuiet(): boolean {
    if (!this.#isOver()) this.#overSince = null;
    else this.#overSince ??= this.#stage.loop.now;
    return this.#overSince !== null && this.#stage.loop.now - this.#overSince > QUIET_MS;
  }

  #standing(): string {
    const runs = [...this.#checked.ledgers.values()].map(({ run, active }) => {
      return `${run?.id} is ${run?.status}${run?.released ? " and released" : ""} with ${[...active.keys()].join(", ")}`;
    });
    return runs.join("; ") || "no run was ever made";
  }

  #open(): void {
    const { stage } = { stage: this.#stage };
    const owner = ++this.#owners;
    const random = stage.random.fork(`engine ${owner}`);
    const effects = new Effects(stage.loop, random.fork("latency"), owner);
    const host = new SimHost(this.#machine, effects);
    const engine = Engine.open({
      store: new SimStore(this.#disk, effects, random.fork("store")),
      ...(this.#scenario.snapshots ? { snapshots: new SimSnapshots(this.#disk, effects) } : {}),
      sessions: host,
      workspaces: simWorkspaces({
        stage,
        repository: this.#repository,
        machine: this.#machine,
        effects,
        random: random.fork("git"),
      }),
      world: simWorld(stage.loop, stage.clock, this.#ids, owner),
      templates: simTemplates(stage),
      maxWorkers: this.#scenario.serverCap,
      perAgent: this.#scenario.perAgent,
      hooks: { sim: this.#hooks.run },
      runCommand: this.#hooks.commandFor(owner),
    });
    stage.loop.note(`engine ${owner} is open`);
    const life: Life = { engine, host, owner, halted: false, checks: new EngineChecks(this.#checked, this.#disk, engine) };
    this.#life = life;
    engine.subscribe(this.#listener(life));
    engine.halted.catch(() => this.#halted(life));
    void this.#takeUp(engine);
  }

  /** Whoever watches; some planted bugs lie between the engine and its listeners. */
  #listener({ checks }: Life): Listener {
    let held: StoredEvent | null = null;
    return (event) => {
      if (this.#stage.has("told-out-of-order") && held === null && event.type === "turn:ended") {
        held = event;
        return;
      }
      checks.heard(event);
      if (this.#stage.has("told-twice") && event.type === "worker:spawned") checks.heard(event);
      if (held) checks.heard(held);
      held = null;
    };
  }

  /** As the server does it. */
  async #takeUp(engine: Engine): Promise<void> {
    try {
      for (const { id, released } of engine.summaries()) if (!released) await engine.takeUp(id);
      this.#stage.loop.note("all runs are taken up");
    } catch (error) {
      this.#stage.loop.note(`a run could not be taken up: ${String(error)}`);
    }
  }

  /** An engine that cannot go on is started anew by whoever looks after it. */
  #halted(life: Life): void {
    if (life.halted || this.#life !== life || this.#closing) return;
    life.halted = true;
    this.#stage.count("halts");
    this.#stage.loop.note(`engine ${life.owner} has halted`);
    this.#stage.loop.at(100, WORLD, "restart after a halt", () => {
      if (this.#life === life) this.#crash("is restarted");
    });
  }

  /** What happens between two steps. */
  #disturb(): void {
    const { loop, calm } = this.#stage;
    const { kills, noCrashes } = this.#options;
    if (kills?.includes(loop.steps)) return this.#crash("is killed");
    if (calm || kills || noCrashes || !this.#life) return;
    if (this.#fate.chance(this.#scenario.crashChance)) return this.#crash("dies");
    if (this.#fate.chance(0.0008)) return this.#shutDown();
    if (this.#fate.chance(0.0006)) return this.#setClock();
    if (this.#fate.chance(0.0004)) return this.#suspend();
    if (this.#fate.chance(0.0004)) this.#disk.fullUntil = loop.now + this.#fate.pick([100, 5000]);
  }

  /** The engine is gone in the middle of whatever it was doing. */
  #crash(how: string): void {
    const life = this.#life;
    if (!life) return;
    const { loop } = this.#stage;
    this.#stage.count("crashes");
    this.#crashes.push(loop.steps);
    loop.note(`engine ${life.owner} ${how}`);
    life.host.forgetListeners();
    this.#life = null;
    this.#closing = false;
    if (this.#stage.clock.wasSetSince(loop.now - UNSEEN_MS)) clockWasSetUnseen(this.#checked.ledgers.values());
    for (const { late } of loop.drop(life.owner)) late?.();
    const away = this.#fate.weighted({ "0": 5, "100": 4, "3000": 3, "30000": 1, "700000": 0.1 });
    if (away === "700000") this.#machine.orphan();
    if (!this.#stage.calm && this.#fate.chance(0.04)) this.#machine.reboot();
    loop.at(Number(away), WORLD, "a new engine", () => this.#open());
  }

  /** In order: the engine is closed, and another one opened after it. */
  #shutDown(): void {
    const life = this.#life!;
    if (life.halted || this.#closing) return;
    const leaveRunning = this.#fate.chance(0.5);
    this.#closing = true;
    this.#stage.loop.note(`engine ${life.owner} is shut down`);
    life.engine.close({ leaveRunning }).then(
      () => {
        this.#stage.count("shut downs");
        this.#crash("is closed");
      },
      (error: unknown) => this.#stage.fail("orders", `closing failed: ${String(error)}`),
    );
  }

  #setClock(): void {
    const byMs = this.#fate.pick([-240_000, -30_000, 30_000, 240_000]);
    this.#stage.loop.note(`the clock is set by ${byMs}`);
    this.#stage.clock.set(byMs);
    this.#stage.count("clocks set");
  }

  #suspend(): void {
    const byMs = this.#fate.pick([25_000, 100_000]);
    this.#stage.loop.note(`the machine sleeps for ${byMs}`);
    this.#stage.loop.suspend(byMs);
    this.#stage.count("sleeps of the machine");
  }
}

export const simulate = (options: SimulationOptions): Promise<SimulationResult> => new Simulation(options).run();
