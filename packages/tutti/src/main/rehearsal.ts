// A template runs with scripted agents on a sample project, in a temporary folder that `withRehearsalFolder` removes
// afterwards.
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { openLocalEngine } from "./local-engine.ts";
import { withSampleFolder, type SampleFolder } from "./sample-folder.ts";
import type { Engine } from "../engine/engine.ts";
import type { RehearseRequest, Rehearsal } from "../schema/api/template-routes.ts";
import { TuttiError } from "../schema/error.ts";
import { isRunOver } from "../schema/status.ts";
import type { Template } from "../schema/template.ts";
import { rehearsalScenario, rehearsedTemplate } from "../session/drivers/script/rehearsal.ts";

interface RehearsalFolder extends SampleFolder {
  scenario: string;
}

export function withRehearsalFolder<T>(
  template: Template,
  tasks: number | undefined,
  work: (folder: RehearsalFolder) => Promise<T>,
): Promise<T> {
  return withSampleFolder("tutti-rehearsal-", async (sample) => {
    const { folder, dataDir } = sample;
    const scenario = join(folder, "scenario.json");
    // The template becomes one of the user's, which needs no consent: the agents are scripted, and no program runs.
    mkdirSync(join(dataDir, "templates"), { mode: 0o700 });
    writeFileSync(join(dataDir, "templates", `${template.id}.json`), JSON.stringify(rehearsedTemplate(template)));
    writeFileSync(scenario, JSON.stringify(rehearsalScenario(template, tasks)));
    return work({ ...sample, scenario });
  });
}

/** Rejects with `engine_stopped` if `signal` aborts first. */
export function rehearseTemplate(template: Template, request: RehearseRequest, signal: AbortSignal) {
  const message = request.message ?? rehearsalRequest(template);
  return withRehearsalFolder(template, request.tasks, async ({ dataDir, cwd, scenario }): Promise<Rehearsal> => {
    const local = openLocalEngine({ dataDir, scenario, warn: () => {} });
    try {
      const { engine } = local;
      const customVariables = request.variables;
      const agent = `script:${scenario}`;
      const { id } = await engine.create({ templateId: template.id, cwd, message, agent, customVariables });
      await unlessAborted(playRun(engine, id), signal);
      const { status, outcome, census, durationMs } = await engine.result(id);
      const tasks = engine
        .get(id)!
        .tasks.map(({ id: task, title, dependencies }) => ({ id: task, title, dependencies }));
      return {
        templateId: template.id,
        status: status as Rehearsal["status"],
        outcome,
        census,
        tasks,
        prompts: await sentPrompts(engine, id),
        notStarted: notStarted(template),
        durationMs,
      };
    } finally {
      await local.close();
    }
  });
}

export const rehearsalRequest = ({ name }: Template): string => `A rehearsal of the template ${name}`;

/** The agents and hooks of a template, in the place of which a rehearsal plays its scenario. */
function notStarted({ phases, hooks }: Template): Rehearsal["notStarted"] {
  const agents = Object.entries(phases).flatMap(([name, { agent }]) => (agent ? [{ name, runs: agent }] : []));
  return [...agents, ...Object.entries(hooks).flatMap(([name, hook]) => (hook ? [{ name, runs: hook.run }] : []))];
}

async function playRun(engine: Engine, id: string): Promise<void> {
  await engine.order(id, "start");
  const planned = await engine.until(id, ({ status }) => status === "confirming" || isRunOver(status));
  if (planned.status === "confirming" && planned.planErrors.length === 0) await engine.order(id, "confirm");
  await engine.until(id, ({ status, planErrors }) => isRunOver(status) || planErrors.length > 0);
}

async function sentPrompts(engine: Engine, id: string): Promise<Rehearsal["prompts"]> {
  const prompts: Rehearsal["prompts"] = [];
  for (const { type, data } of engine.readEvents({ run: id })) {
    if (type !== "turn:started") continue;
    const { sessionId, taskId, turn, phase } = data;
    for (const entry of await engine.transcript(id, sessionId)) {
      if (entry.type === "prompt" && entry.turn === turn) prompts.push({ phase, taskId, turn, text: entry.text });
    }
  }
  return prompts;
}

async function unlessAborted(work: Promise<void>, signal: AbortSignal): Promise<void> {
  const aborted = Promise.withResolvers<never>();
  const stop = () => aborted.reject(new TuttiError("engine_stopped", "The rehearsal was stopped. Start it again."));
  if (signal.aborted) stop();
  signal.addEventListener("abort", stop);
  // After an abort the engine is closed, which rejects `work` too.
  work.catch(() => {});
  try {
    await Promise.race([work, aborted.promise]);
  } finally {
    signal.removeEventListener("abort", stop);
  }
}
