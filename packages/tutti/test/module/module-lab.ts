// The managers of document 004 on a real engine, with real sessions and workspaces, and a record of their events.
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Lab } from "../lab/lab.ts";
import {
  SharedEngine,
  OrchestratorManager,
  ResponseParser,
  TemplateManager,
  WorkerManager,
  type Controller,
  type OrchestratorState,
} from "../../src/index.ts";

type Options = ConstructorParameters<typeof OrchestratorManager>[3];
type Config = ConstructorParameters<typeof WorkerManager>[2];

export class ModuleLab extends Lab {
  readonly templates = new TemplateManager(join(this.folder, "templates"));
  readonly parser = new ResponseParser();
  readonly #open: OrchestratorManager[] = [];

  /** Both managers on one engine. A string names an agent. */
  managers(controller: Controller, options: Options = {}, config: Config = {}) {
    const shared = typeof controller === "string" ? new SharedEngine(controller) : controller;
    const orchestrators = new OrchestratorManager(this.templates, this.parser, shared, {
      persistencePath: this.data,
      ...options,
    });
    const workers = new WorkerManager(shared, this.parser, config);
    this.#open.push(orchestrators);
    return { orchestrators, workers };
  }

  template(id: string, content: object): void {
    mkdirSync(this.templates.customDir, { recursive: true });
    const whole = { id, name: id, extends: "_default", ...content };
    writeFileSync(join(this.templates.customDir, `${id}.json`), JSON.stringify(whole));
  }

  /** Creates and starts a run. */
  async begin(orchestrators: OrchestratorManager, more: object = {}): Promise<string> {
    const { id } = await orchestrators.create({ templateId: "_default", cwd: this.repo, message: "do it", ...more });
    await orchestrators.start(id);
    return id;
  }

  /** Creates a run whose plan is confirmed. */
  async work(orchestrators: OrchestratorManager, more: object = {}): Promise<string> {
    const id = await this.begin(orchestrators, more);
    await until(orchestrators, id, "confirming");
    await orchestrators.advanceToPhase(id, "workerExecution");
    return id;
  }

  async close(): Promise<void> {
    for (const manager of this.#open) await manager.close().catch(() => {});
    this.tearDown();
  }
}

export async function until(
  manager: OrchestratorManager,
  id: string,
  status: OrchestratorState["status"],
): Promise<OrchestratorState> {
  const ends = ["completed", "error", "cancelled"];
  const run = await manager.sharedEngine.engine.until(id, (run) => run.status === status || ends.includes(run.status));
  if (run.status !== status) throw new Error(`${id} is ${run.status}: ${JSON.stringify(run.errors)}`);
  if (ends.includes(status)) await manager.sharedEngine.engine.settled(id);
  return manager.get(id)!;
}

/** Resolves when the worker of a task has the status. */
export async function untilWorker(manager: WorkerManager, id: string, taskId: string, status: string) {
  await manager.sharedEngine.engine.until(id, () => manager.getWorkerByTaskId(taskId, id)?.status === status);
  return manager.getWorkerByTaskId(taskId, id)!;
}
