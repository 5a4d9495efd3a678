// A real engine in this process, with real sessions and workspaces and a store of the test's choice.
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Lab } from "../lab/lab.ts";
import { Engine, type NewRun } from "../../src/engine/engine.ts";
import type { Run } from "../../src/schema/run.ts";
import { isRunOver } from "../../src/schema/status.ts";
import { createKeptHost } from "../../src/session/kept-host.ts";
import { identify } from "../../src/session/process.ts";
import { MemoryStore } from "../../src/store/memory.ts";
import type { Store } from "../../src/store/store.ts";
import { createGitWorkspaces } from "../../src/workspace/git-workspaces.ts";
import { realWorld } from "../../src/world.ts";

export class EngineLab extends Lab {
  readonly engines: Engine[] = [];

  open(
    store: Store = new MemoryStore(),
    options: { maxWorkers?: number; agentEnv?: Record<string, string> } = {},
  ): Engine {
    mkdirSync(this.data, { recursive: true });
    const engineFile = join(this.data, "engine.json");
    writeFileSync(engineFile, JSON.stringify(identify(process.pid)));
    const engine = Engine.open({
      store,
      sessions: createKeptHost({
        folder: join(this.data, "sessions"),
        engineFile,
        world: realWorld,
        graceMs: 500,
        agentEnv: options.agentEnv ?? {},
      }),
      workspaces: createGitWorkspaces({ folder: join(this.data, "worktrees") }),
      world: realWorld,
      maxWorkers: options.maxWorkers ?? 20,
    });
    this.engines.push(engine);
    return engine;
  }

  /** Creates and starts a run. */
  async begin(engine: Engine, agent: string, more: Partial<NewRun> = {}): Promise<string> {
    const { id } = await engine.create({ templateId: "_default", cwd: this.repo, message: "do it", agent, ...more });
    await engine.start(id);
    return id;
  }
}

export async function untilOver(engine: Engine, id: string): Promise<Run> {
  const run = await engine.until(id, ({ status }) => isRunOver(status) || status === "confirming");
  if (run.status === "confirming") await engine.confirm(id);
  const over = await engine.until(id, ({ status }) => isRunOver(status));
  await engine.settled(id);
  return engine.get(over.id)!;
}
