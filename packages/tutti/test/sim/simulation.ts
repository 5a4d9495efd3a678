// One simulation: the real engine in a random world, first with faults, then in a calm phase in which every run must
// end.
import { checkBatch, type Checked } from "./check/log-checks.ts";
import { checkWaitsEnd, forgiveWaits } from "./check/provider-checks.ts";
import { newResults } from "./check/reuse-checks.ts";
import { checkPrompt } from "./check/team-checks.ts";
import { clockWasSetUnseen } from "./check/time-checks.ts";
import { checkNothingLeft, checkPausesAreHeard, checkStart, checkWorld } from "./check/world-checks.ts";
import { SimHooks } from "./hooks.ts";
import { Life, type Lasting } from "./life.ts";
import { WORLD } from "./loop.ts";
import { Machine } from "./machine.ts";
import { Person } from "./person.ts";
import { plant } from "./planted-rules.ts";
import { RULE_BUGS, type BugName, type RuleBug } from "./planted.ts";
import type { Random } from "./random.ts";
import { Repository } from "./repository.ts";
import { drawScenario, type Scenario } from "./scenario.ts";
import { Disk } from "./sim-store.ts";
import { Stage } from "./stage.ts";
import type { Violation } from "./violation.ts";
import { isRunOver } from "../../src/schema/status.ts";

export interface SimulationOptions {
  seed: number;
  /** Steps after which the engine crashes. Without them it crashes with `crashChance`. */
  kills?: readonly number[];
  /** Never crash at random, even without `kills`. */
  noCrashes?: boolean;
  bug?: BugName | null;
  /** Called with every use of the log, in order. */
  record?: Disk["record"];
}

export interface SimulationResult {
  violation: Violation | null;
  steps: number;
  roughSteps: number;
  crashes: number[];
  log: string[];
  counts: ReadonlyMap<string, number>;
}

/** Virtual time within which every run must end in the calm phase. */
const PATIENCE_MS = 3_600_000;
const MAX_STEPS = 60_000;
const QUIET_MS = 60_000;
const UNTIDY_MS = 120_000;

/** Virtual time within which an engine detects a changed clock. */
const UNSEEN_MS = 15_000;

export class Simulation {
  readonly #options: SimulationOptions;
  readonly #stage: Stage;
  readonly #scenario: Scenario;
  readonly #repository = new Repository();
  readonly #machine: Machine;
  readonly #disk: Disk;
  readonly #checked: Checked;
  readonly #lasting: Lasting;
  readonly #person: Person;
  readonly #fate: Random;
  readonly #absence: Random;
  readonly #crashes: number[] = [];
  #life: Life | null = null;
  #owners = 0;
  #overSince: number | null = null;
  #untidySince: number | null = null;
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
    if (options.record) this.#disk.record = options.record;
    this.#fate = stage.random.fork("fate");
    this.#absence = stage.random.fork("absence");
    this.#checked = {
      stage,
      machine: this.#machine,
      repository: this.#repository,
      ledgers: new Map(),
      results: newResults(),
      serverCap: this.#scenario.serverCap,
    };
    this.#machine.onDeliver = (process, turn) => {
      checkPrompt(this.#checked, process, turn);
      checkStart(this.#checked, process, turn);
    };
    this.#disk.onRemove = (run) => {
      stage.count("runs removed");
      this.#checked.ledgers.delete(run);
    };
    this.#disk.onCommit = (events) => checkBatch(this.#checked, events);
    const isRecorded = (run: string, cause: number) =>
      [...(this.#checked.ledgers.get(run)?.hooks ?? [])].some((key) => key.endsWith(` ${cause}`));
    this.#lasting = {
      checked: this.#checked,
      scenario: this.#scenario,
      disk: this.#disk,
      hooks: new SimHooks(stage, isRecorded),
      ids: stage.random.fork("ids"),
    };
    this.#person = new Person({
      stage,
      engine: () => (this.#life?.halted === false && !this.#closing ? this.#life.engine : null),
      wanted: this.#scenario.runs,
      forks: this.#scenario.forks,
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
    if (!this.#isOver()) this.#stage.fail("I20", `not finished: ${this.#standing()}`);
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
    const life = this.#life;
    checkWorld(this.#checked);
    if (!life || life.halted) return forgiveWaits(this.#checked);
    life.checks.check(life.engine);
    if (this.#closing) return forgiveWaits(this.#checked);
    checkPausesAreHeard(this.#checked, life.since);
    checkWaitsEnd(this.#checked);
  }

  #calmDown(): void {
    this.#stage.loop.note("no more faults from here on");
    this.#stage.calm = true;
  }

  #isOver(): boolean {
    const { ledgers } = this.#checked;
    const runs = [...ledgers.values()];
    return this.#person.isDone && runs.every(({ run }) => run && isRunOver(run.status) && run.released);
  }

  /** Whether `#isOver` has held for so long that the user will not reopen a run. */
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
    const life = new Life(this.#lasting, ++this.#owners);
    this.#life = life;
    life.engine.halted.catch(() => this.#halted(life));
  }

  /** A supervisor restarts an engine that has halted. */
  #halted(life: Life): void {
    if (life.halted || this.#life !== life || this.#closing) return;
    life.halted = true;
    this.#stage.count("halts");
    this.#stage.loop.note(`engine ${life.owner} has halted`);
    this.#stage.loop.at(100, WORLD, "restart after a halt", () => {
      if (this.#life === life) this.#crash("is restarted");
    });
  }

  #disturb(): void {
    const { loop, calm } = this.#stage;
    const { kills, noCrashes } = this.#options;
    if (kills?.includes(loop.steps)) return this.#crash("is killed");
    if (calm) return this.#lookAfter();
    if (kills || noCrashes || !this.#life) return;
    if (this.#fate.chance(this.#scenario.crashChance)) return this.#crash("dies");
    if (this.#fate.chance(0.0008)) return this.#shutDown();
    if (this.#fate.chance(0.0006)) return this.#setClock();
    if (this.#fate.chance(0.0004)) return this.#suspend();
    if (this.#fate.chance(0.0004)) this.#disk.fullUntil = loop.now + this.#fate.pick([100, 5000]);
  }

  /** Cleanup that failed is retried at the next start, so `#shutDown` restarts the engine of a stuck run. */
  #lookAfter(): void {
    const { loop } = this.#stage;
    const runs = [...this.#checked.ledgers.values()];
    const waits = runs.some(({ run }) => run && !run.released) && runs.every(({ run }) => run && isRunOver(run.status));
    if (!waits || !this.#life) this.#untidySince = null;
    else this.#untidySince ??= loop.now;
    if (this.#untidySince === null || loop.now - this.#untidySince < UNTIDY_MS) return;
    this.#untidySince = null;
    this.#shutDown();
  }

  #crash(how: string): void {
    const life = this.#life;
    if (!life) return;
    const { loop } = this.#stage;
    this.#stage.count("crashes");
    this.#crashes.push(loop.steps);
    loop.note(`engine ${life.owner} ${how}`);
    this.#life = null;
    this.#closing = false;
    if (this.#stage.clock.wasSetSince(loop.now - UNSEEN_MS)) clockWasSetUnseen(this.#checked.ledgers.values());
    life.drop();
    const away = this.#fate.weighted({ "0": 5, "100": 4, "3000": 3, "30000": 1, "700000": 0.1 });
    if (away === "700000") this.#machine.orphan();
    if (!this.#stage.calm && this.#fate.chance(0.04)) this.#machine.reboot();
    if (!this.#stage.calm) this.#disturbAbsence();
    loop.at(Number(away), WORLD, "a new engine", () => this.#open());
  }

  #disturbAbsence(): void {
    const what = this.#absence.weighted({ nothing: 16, clock: 1, sleep: 1 });
    if (what === "nothing") return;
    this.#stage.count(`while no engine runs: ${what}`);
    if (what === "sleep") return this.#suspend();
    // An engine cannot distinguish such a jump from elapsed time, so surviving sessions count it as theirs.
    clockWasSetUnseen(this.#checked.ledgers.values());
    this.#setClock();
  }

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
