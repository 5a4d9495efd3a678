// One engine process: opens on the state that the previous one left, and lives until it is dropped.
import { EngineChecks } from "./check/engine-checks.ts";
import type { Checked } from "./check/log-checks.ts";
import { Effects } from "./effects.ts";
import type { SimHooks } from "./hooks.ts";
import type { Owner } from "./loop.ts";
import type { Random } from "./random.ts";
import { simTemplates, type Scenario } from "./scenario.ts";
import { simChecks } from "./sim-checks.ts";
import { SimHost } from "./sim-host.ts";
import { simMailbox } from "./sim-mailbox.ts";
import { SimSnapshots } from "./sim-snapshots.ts";
import { SimStore, type Disk } from "./sim-store.ts";
import { simWorkspaces } from "./sim-workspaces.ts";
import { simWorld } from "./sim-world.ts";
import type { Stage } from "./stage.ts";
import { Engine, type Listener } from "../../src/engine/engine.ts";
import type { StoredEvent } from "../../src/schema/event.ts";

export interface Lasting {
  checked: Checked;
  scenario: Scenario;
  disk: Disk;
  hooks: SimHooks;
  ids: Random;
}

export class Life {
  readonly owner: Owner;
  readonly since: number;
  readonly engine: Engine;
  readonly checks: EngineChecks;
  /** Set when the store has failed. The engine then does nothing more. */
  halted = false;
  readonly #stage: Stage;
  readonly #host: SimHost;

  constructor({ checked, scenario, disk, hooks, ids }: Lasting, owner: Owner) {
    const { stage, machine, repository } = checked;
    const random = stage.random.fork(`engine ${owner}`);
    const effects = new Effects(stage.loop, random.fork("latency"), owner);
    this.owner = owner;
    this.since = stage.loop.now;
    this.#stage = stage;
    this.#host = new SimHost(machine, effects);
    this.engine = Engine.open({
      store: new SimStore(disk, effects, random.fork("store")),
      ...(scenario.snapshots ? { snapshots: new SimSnapshots(disk, effects) } : {}),
      sessions: this.#host,
      workspaces: simWorkspaces({ stage, repository, machine, effects, random: random.fork("git") }),
      world: simWorld(stage.loop, stage.clock, ids, owner),
      templates: simTemplates(stage),
      checks: simChecks(stage, repository, effects),
      mailboxes: (run) => simMailbox(machine, effects, run),
      maxWorkers: scenario.serverCap,
      perAgent: scenario.perAgent,
      hooks: { sim: hooks.run },
      runCommand: hooks.commandFor(owner),
    });
    stage.loop.note(`engine ${owner} is open`);
    this.checks = new EngineChecks(checked, disk, this.engine);
    this.engine.subscribe(this.#listener());
    void this.#activateRuns();
  }

  /** Passes events to `checks`. Some planted bugs sit between the engine and its subscribers. */
  #listener(): Listener {
    let held: StoredEvent | null = null;
    return (event) => {
      if (this.#stage.has("told-out-of-order") && held === null && event.type === "turn:ended") {
        held = event;
        return;
      }
      this.checks.received(event);
      if (this.#stage.has("told-twice") && event.type === "worker:spawned") this.checks.received(event);
      if (held) this.checks.received(held);
      held = null;
    };
  }

  async #activateRuns(): Promise<void> {
    try {
      await this.engine.activateAll();
      this.#stage.loop.note("all runs are adopted");
    } catch (error) {
      this.#stage.loop.note(`a run could not be adopted: ${String(error)}`);
    }
  }

  drop(): void {
    this.#host.forgetListeners();
    this.#host.endWarm();
    for (const { late } of this.#stage.loop.drop(this.owner)) late?.();
  }
}
