import { renderPrompt } from "./prompt.ts";
import { hash } from "node:crypto";
import { workKey } from "../../run/rules/work-key.ts";
import type { Run } from "../../schema/run.ts";
import type { Template, TemplateConfig } from "../../schema/template.ts";
import type { Worker } from "../../schema/worker.ts";

/**
 * `ABOUT_SCHEDULING` lists settings that affect only scheduling. Any other one may change the work or whether it is
 * accepted.
 */
const ABOUT_SCHEDULING = new Set<string>([
  "agent",
  "maxWorkers",
  "workerTimeout",
  "idleTimeout",
  "stallTimeout",
  "saveInterval",
  "autoResume",
  "maxAutoResumes",
  "autoSpawn",
  "parallelExecution",
  "retryOnError",
  "maxRetries",
  "autoRetry",
  "retryDelay",
  "failedDependency",
  "overlappingScopes",
  "emergingConflicts",
  "priorityOrder",
  "sessionPrefix",
  "spawnDelay",
  "progressDetectionInterval",
  "pollInterval",
  "hideWorkersFromList",
  "inactivityThreshold",
  "confirmationDelay",
  "budget",
] satisfies (keyof TemplateConfig)[]);

/** `tree` is the git tree that the attempt starts from. */
export function keyOfAttempt(run: Run, worker: Worker, tree: string): string {
  const { task, session } = worker;
  // `nameless` replaces ids by constants, so that the prompt is equal in every run. `tree` stands for the dependencies:
  // another report about the same files must not repeat the work.
  const nameless = { ...worker, attempt: 0, task: { ...task, id: "TASK", dependencies: [] } };
  const { text: prompt } = renderPrompt({ ...run, id: "RUN" }, "workerExecution", nameless, null, "FOLDER");
  const { agent, model, role } = session;
  const inputs = { prompt, task, terms: termsOf(run.template), agent, model, role, tree };
  return workKey(inputs, (text) => hash("sha256", text));
}

/** By template, because all attempts of a run share them. */
const knownTerms = new WeakMap<Template, object>();

function termsOf(template: Template): object {
  const known = knownTerms.get(template) ?? findTerms(template);
  knownTerms.set(template, known);
  return known;
}

function findTerms({ config, phases, prompts }: Template): object {
  const { tools, completionMarkers } = phases.workerExecution;
  const settings = Object.entries(config).filter(([name]) => !ABOUT_SCHEDULING.has(name));
  return {
    tools,
    completionMarkers,
    format: prompts.worker.format,
    responseFormat: prompts.responseFormat,
    config: Object.fromEntries(settings),
  };
}
