// What a template of a project would run on this machine. A repository that somebody cloned may describe work, but it may
// not start programs before the person has seen which, nor let agents do what they would have to ask for.
import { createHash } from "node:crypto";
import { leavesOf } from "./inherit.ts";
import type { Resolution } from "./resolve-template.ts";
import type { Template } from "../schema/template.ts";

/** Agents that a project may name: they run what the person has installed under these names. */
const AGENTS_OF_ANYBODY = ["local", "claude", "codex"];

/**
 * One line for each program, such as `config.agent: "command:./agent"`, in the order of their paths. `agents` are the
 * names that the person's own configuration defines. What comes from the person's or the system's templates is not asked.
 */
export function programsOf(resolution: Resolution, agents: readonly string[]): string[] {
  const ofProject = leavesOf(resolution.template).filter(([path]) => isOfProject(path, resolution));
  return linesOf(ofProject, [...AGENTS_OF_ANYBODY, ...agents]);
}

/** The same for a run that somebody else began: nobody here has agreed to any part of it. */
export function programsOfRun({ agent, template }: { agent: string; template: Template }): string[] {
  return linesOf([["/agent", agent], ...leavesOf(template)], AGENTS_OF_ANYBODY);
}

function linesOf(leaves: readonly [path: string, value: unknown][], harmless: readonly string[]): string[] {
  return leaves
    .filter(([path, value]) => {
      if (path === "/config/permissions/mode") return value === "all";
      if (path === "/config/permissions/allow") return Array.isArray(value) && value.length > 0;
      if (typeof value !== "string") return false;
      if (isAgentPath(path)) return !harmless.includes(value);
      return isHookPath(path) && /^\s*command:/i.test(value);
    })
    .map(([path, value]) => `${path.slice(1).replaceAll("/", ".")}: ${visible(value)}`)
    .toSorted();
}

/** The same for agents that a project's configuration names, by the place where it does. */
export function programsOfAgents(named: Readonly<Record<string, string>>, agents: readonly string[]): string[] {
  const harmless = [...AGENTS_OF_ANYBODY, ...agents];
  return Object.entries(named)
    .filter(([, agent]) => !harmless.includes(agent))
    .map(([place, agent]) => `${place}: ${visible(agent)}`)
    .toSorted();
}

/** The same list gives the same hash; it says what was shown when the person agreed. */
export function trustHash(programs: readonly string[]): string {
  return createHash("sha256").update(JSON.stringify(programs.toSorted())).digest("hex");
}

function isOfProject(path: string, { chain, places, provenance }: Resolution): boolean {
  const at = chain.indexOf(provenance[path]!);
  return at >= 0 && places[at] === "project";
}

const isAgentPath = (path: string): boolean => /^(\/config|\/phases\/[^/]+)?\/agent$/.test(path);
const isHookPath = (path: string): boolean => /^\/hooks\/[^/]+\/run$/.test(path);

/** No sign of the text may change what the person sees of it on a screen. */
function visible(value: unknown): string {
  return JSON.stringify(value).replaceAll(
    /[\p{C}\p{Zl}\p{Zp}]/gu,
    (sign) => `\\u{${sign.codePointAt(0)!.toString(16)}}`,
  );
}
