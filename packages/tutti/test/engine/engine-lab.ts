// A real engine in this process, with real sessions and workspaces and a store that the test chooses.
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Lab } from "../lab/lab.ts";
import { createScriptedHost, type ScriptedAgents } from "../lab/scripted-host.ts";
import { Engine, type EngineOptions } from "../../src/engine/engine.ts";
import type { NewRun, Templates } from "../../src/engine/new-run.ts";
import type { Run } from "../../src/schema/run.ts";
import { isRunOver } from "../../src/schema/status.ts";
import type { Template, TemplateConfig } from "../../src/schema/template.ts";
import { createKeeperHost } from "../../src/session/keeper/keeper-host.ts";
import { identify } from "../../src/session/process.ts";
import { MemoryStore } from "../../src/store/memory.ts";
import type { Store } from "../../src/store/store.ts";
import { TemplateLibrary } from "../../src/template/files/library.ts";
import { createGitWorkspaces } from "../../src/workspace/git-workspaces.ts";
import { realWorld } from "../../src/world.ts";

interface Settings {
  config?: Partial<TemplateConfig>;
  phases?: { [P in keyof Template["phases"]]?: Partial<Template["phases"][P]> };
  hooks?: Partial<Template["hooks"]>;
}

const mapValues = <T extends object>(object: T, change: (value: T[keyof T], key: keyof T) => unknown): object =>
  Object.fromEntries(Object.entries(object).map(([key, value]) => [key, change(value as T[keyof T], key as keyof T)]));

export class EngineLab extends Lab {
  readonly engines: Engine[] = [];
  readonly #agents: ScriptedAgents = new Map();
  /** Whether `script:` agents are played in this process. A test about processes or session folders sets it to false. */
  inProcess = true;

  open(
    store: Store = new MemoryStore(),
    options: { agentEnv?: Record<string, string> } & Partial<EngineOptions> = {},
  ): Engine {
    mkdirSync(this.data, { recursive: true });
    const engineFile = join(this.data, "engine.json");
    writeFileSync(engineFile, JSON.stringify(identify(process.pid)));
    const kept = createKeeperHost({
      folder: join(this.data, "sessions"),
      engineFile,
      world: realWorld,
      graceMs: 500,
      agentEnv: options.agentEnv ?? {},
    });
    const engine = Engine.open({
      store,
      sessions: this.inProcess ? createScriptedHost(this.#agents, kept) : kept,
      workspaces: createGitWorkspaces({ folder: join(this.data, "worktrees") }),
      world: realWorld,
      maxWorkers: options.maxWorkers ?? 20,
      templates: this.#templates(),
      dataFolder: this.data,
      ...options,
    });
    this.engines.push(engine);
    return engine;
  }

  /** Overrides for the templates of the next runs, including times below the limits of a user's template. */
  settings: Settings = {};

  #templates(): Templates {
    const library = new TemplateLibrary({ userFolder: join(this.data, "templates") });
    return {
      resolve: (id, project) => {
        const found = library.resolve(id, project);
        const { config, phases, hooks } = found.template;
        const merged = mapValues(phases, (phase, name) => ({ ...phase, ...this.settings.phases?.[name] }));
        const template = {
          ...found.template,
          config: { ...config, ...this.settings.config },
          phases: merged as Template["phases"],
          hooks: { ...hooks, ...this.settings.hooks },
        };
        return { ...found, template };
      },
    };
  }

  /** Stores a template of the user, for the next engine and for this one. */
  userTemplate(id: string, members: object): void {
    const folder = join(this.data, "templates");
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, `${id}.json`), JSON.stringify({ id, name: id, ...members }));
  }

  async begin(engine: Engine, agent: string, more: Partial<NewRun> & Settings = {}): Promise<string> {
    const { config, phases, hooks, ...request } = more;
    this.settings = { ...(config ? { config } : {}), ...(phases ? { phases } : {}), ...(hooks ? { hooks } : {}) };
    const { id } = await engine.create({ templateId: "_default", cwd: this.repo, message: "do it", agent, ...request });
    this.settings = {};
    await engine.order(id, "start");
    return id;
  }
}

export async function untilOver(engine: Engine, id: string): Promise<Run> {
  const run = await engine.until(id, ({ status }) => isRunOver(status) || status === "confirming");
  if (run.status === "confirming") await engine.order(id, "confirm");
  const over = await engine.until(id, ({ status }) => isRunOver(status));
  await engine.settled(id);
  return engine.get(over.id)!;
}
