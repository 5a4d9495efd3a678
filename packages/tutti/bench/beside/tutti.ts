// Tutti's engine with its SQLite store, and with no-op sessions and workspaces.
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { CAP } from "./layered-graph.ts";
import { NoOpHost } from "./no-op-host.ts";
import { NO_OP_WORKSPACES } from "./no-op-workspaces.ts";
import type { Participant } from "./participant.ts";
import { Engine } from "../../src/engine/engine.ts";
import { isRunOver } from "../../src/schema/status.ts";
import type { Template } from "../../src/schema/template.ts";
import { openSqliteStore } from "../../src/store/sqlite.ts";
import { TemplateLibrary } from "../../src/template/files/library.ts";
import { realWorld } from "../../src/world.ts";

export const tutti: Participant = async ({ folder, trace, isResumed }, recorder) => {
  const template = templateIn(folder);
  const store = openSqliteStore(join(folder, "tutti.db"));
  const engine = Engine.open({
    store,
    snapshots: store.snapshots,
    sessions: new NoOpHost({ delimiters: template.prompts.responseFormat, recorder, answered: answeredIn(trace) }),
    workspaces: NO_OP_WORKSPACES,
    world: realWorld,
    templates: { resolve: () => ({ template, programs: [], warnings: [] }) },
    maxWorkers: CAP,
  });
  engine.subscribe(({ type, data }) => {
    recorder.stored++;
    if (type === "worker:started") recorder.prompted(data.taskId);
    if (type === "worker:completed") recorder.ended(data.taskId);
  });
  const id = isResumed ? engine.list()[0]!.id : await planned(engine, folder);
  recorder.begin();
  recorder.stored = 0;
  if (isResumed) await engine.activateAll();
  else await engine.order(id, "confirm");
  const { outcome } = await engine.until(id, ({ status }) => isRunOver(status));
  if (outcome !== "success") throw new Error(`the run ended with ${outcome}`);
};

/** The built-in template, with the worker phase only. */
function templateIn(folder: string): Template {
  const { template } = new TemplateLibrary({ userFolder: join(folder, "templates") }).resolve("_default");
  const { analysis, aggregation, verification } = template.phases;
  return {
    ...template,
    config: { ...template.config, maxWorkers: CAP, acceptWithoutWork: true, autoSpawn: false },
    phases: {
      ...template.phases,
      analysis: { ...analysis, enabled: false },
      aggregation: { ...aggregation, enabled: false },
      verification: { ...verification, enabled: false },
    },
  };
}

async function planned(engine: Engine, cwd: string): Promise<string> {
  const { id } = await engine.create({ templateId: "_default", cwd, message: "do nothing", agent: "local" });
  await engine.order(id, "start");
  await engine.until(id, ({ status }) => status === "confirming");
  return id;
}

function answeredIn(trace: string | null): Set<string> {
  if (trace === null || !existsSync(trace)) return new Set();
  const ended = readFileSync(trace, "utf8").matchAll(/^ended (\S+) /gm);
  return new Set(Array.from(ended, ([, id]) => id!));
}
