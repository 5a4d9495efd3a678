// `keyOfAttempt` is the work key: a hash of everything that determines the work of an attempt: prompt, task, agent, start
// files and the rules for its answer. Ids that differ between runs are not part of it.
import { hash } from "node:crypto";
import { renderPrompt } from "./prompt.ts";
import { canonicalJson } from "../../protocol/json/canonical-json.ts";
import type { Run } from "../../schema/run.ts";
import type { Task } from "../../schema/task.ts";
import type { Template, TemplateConfig } from "../../schema/template.ts";
import type { Worker } from "../../schema/worker.ts";

interface WorkInputs {
  /** Has placeholders for the ids of run, task and attempt and for the folder. */
  prompt: string;
  task: Pick<Task, "title" | "description" | "scope">;
  /** Template settings that decide how an answer is read and accepted, as `canonicalJson`. */
  terms: string;
  agent: string;
  model?: string | undefined;
  role: string;
  tree: string;
}

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
  return workKey({ prompt, task, terms: termsOf(run.template), agent, model, role, tree });
}

export function workKey({ prompt, task, terms, agent, model, role, tree }: WorkInputs): string {
  const { title, description, scope } = task;
  // Members in the order of their names, like those of `canonicalJson`, which takes 20 times as long.
  const first = JSON.stringify({ agent, model, prompt, role, task: { description, scope, title } });
  // The last members in the order of their names.
  return hash("sha256", `${first.slice(0, -1)},"terms":${terms},"tree":${JSON.stringify(tree)}}`);
}

/** By template, because all attempts of a run share them, and they are the largest part of the text. */
const knownTerms = new WeakMap<Template, string>();

function termsOf(template: Template): string {
  const known = knownTerms.get(template) ?? canonicalJson(findTerms(template));
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
