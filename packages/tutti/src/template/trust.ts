// `programsOf` finds everything in a project's template that the user has to approve first. A cloned repository may
// describe work. It must not start programs, widen what agents may do, remove a question to the user, or replace a
// template that the user knows.
import { createHash } from "node:crypto";
import { findWider, findWiderRights } from "./find-wider.ts";
import { leavesOf, settingsOf } from "./inherit.ts";
import type { Resolution } from "./resolve-template.ts";
import { BUILT_IN_AGENTS } from "../schema/agent/built-in-agents.ts";
import type { Run } from "../schema/run.ts";

/** `LIST_PATHS` are commands for `sh`, and files of the user that agents get to see. */
const LIST_PATHS = [
  "/phases/aggregation/commands",
  "/phases/verification/commands",
  "/workspace/copy",
  "/workspace/link",
  "/workspace/setup",
];

/**
 * Returns one line per program or setting, such as `config.agent: "command:./agent"`, sorted by path. `agents` are the
 * names in the user's own configuration. `programsOf` skips values from user and system templates.
 */
export function programsOf(resolution: Resolution, agents: readonly string[]): string[] {
  const ofProject = leavesOf(resolution.template).filter(([path]) => isOfProject(path, resolution));
  // Not only of `ofProject`: a project can also remove a hook.
  const wider = resolution.places.includes("project") ? findWider(resolution.template, resolution.outer) : [];
  const replaced = resolution.replaced.map(
    ({ id, place, digest }) => `templates.${id}: replaces the template of the ${place} with content ${digest}`,
  );
  const programs = linesOf(ofProject, isOneOf([...BUILT_IN_AGENTS, ...agents]));
  return [...new Set([...programs, ...wider.map(lineOf), ...replaced])].toSorted();
}

/** Returns the lines of `programsOf` for the programs in a template file. A name without `:` is no program. */
export const programsOfFile = (template: unknown): string[] =>
  linesOf(settingsOf(template), (agent) => !agent.includes(":"));

/** Like `programsOf`, for a run from another machine: no part of it has been approved here. */
export function programsOfRun({ agent, template, tasks }: Pick<Run, "agent" | "template" | "tasks">): string[] {
  const listed = Object.keys(template.phases.workerExecution.agents ?? {});
  const ofTasks = tasks.flatMap((task): [string, unknown][] =>
    task.agent === undefined || listed.includes(task.agent) ? [] : [[`/tasks/${task.id}/agent`, task.agent]],
  );
  const programs = linesOf([["/agent", agent], ...leavesOf(template), ...ofTasks], isOneOf(BUILT_IN_AGENTS));
  return [...programs, ...findWiderRights(template, {}).map(lineOf)].toSorted();
}

const isOneOf =
  (names: readonly string[]) =>
  (name: string): boolean =>
    names.includes(name);

function linesOf(leaves: readonly [path: string, value: unknown][], isApproved: (agent: string) => boolean): string[] {
  return leaves
    .filter(([path, value]) => {
      if (LIST_PATHS.includes(path)) return value === "auto" || (Array.isArray(value) && value.length > 0);
      if (typeof value !== "string") return false;
      if (isAgentPath(path)) return !isApproved(value);
      return isHookPath(path) && /^\s*command:/i.test(value);
    })
    .map(lineOf)
    .toSorted();
}

const lineOf = ([path, value]: readonly [string, unknown]): string =>
  `${path.slice(1).replaceAll("/", ".")}: ${visible(value)}`;

/** Like `programsOf`, for agents in a project's configuration, keyed by their path in it. */
export function programsOfAgents(named: Readonly<Record<string, string>>, agents: readonly string[]): string[] {
  const approved = [...BUILT_IN_AGENTS, ...agents];
  return Object.entries(named)
    .filter(([, agent]) => !approved.includes(agent))
    .map(([path, agent]) => `${path}: ${visible(agent)}`)
    .toSorted();
}

/**
 * Like `programsOf`, for a template that a project chose by `setting`. `chosen` is the user's own choice. A question of
 * `chosen` may be missing if the template `usual` does not have it either.
 */
export function programsOfChoice(setting: string, template: unknown, chosen: unknown, usual: unknown): string[] {
  const unusual = new Set(findWider(template, usual).map(([path]) => path));
  const wider = [
    ...findWiderRights(template, chosen),
    ...findWider(template, chosen).filter(([path]) => unusual.has(path)),
  ];
  return [...new Set(wider.map((each) => `${setting} with ${lineOf(each)}`))].toSorted();
}

/** Like `programsOf`, for settings of git. */
export const programsOfSettings = (settings: readonly (readonly [string, string])[]): string[] =>
  settings.map(([name, value]) => `git config ${name}: ${visible(value)}`).toSorted();

/** Identifies the list that the user saw when approving. The order of `programs` does not matter. */
export function trustHash(programs: readonly string[]): string {
  return createHash("sha256").update(JSON.stringify(programs.toSorted())).digest("hex");
}

function isOfProject(path: string, { chain, places, provenance }: Resolution): boolean {
  const at = chain.indexOf(provenance[path]!);
  return at >= 0 && places[at] === "project";
}

const isAgentPath = (path: string): boolean =>
  /^(\/config|\/roles\/[^/]+|\/phases\/[^/]+|\/phases\/workerExecution\/agents\/[^/]+|\/tasks\/[^/]+)?\/agent$/.test(
    path,
  );
const isHookPath = (path: string): boolean => /^\/hooks\/[^/]+\/run$/.test(path);

/** Escapes characters that could change how the text appears on a screen. */
function visible(value: unknown): string {
  return JSON.stringify(value).replaceAll(
    /[\p{C}\p{Zl}\p{Zp}]/gu,
    (character) => `\\u{${character.codePointAt(0)!.toString(16)}}`,
  );
}
