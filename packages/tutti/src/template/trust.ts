// Finds the programs that a project's template would run on this machine. A cloned repository may describe work. It
// must not start programs, or grant agents permissions, before the user has approved them.
import { createHash } from "node:crypto";
import { leavesOf } from "./inherit.ts";
import type { Resolution } from "./resolve-template.ts";
import type { Template } from "../schema/template.ts";

/** Agents that any project may name: they run programs that the user has installed. */
const AGENTS_OF_ANYBODY = ["local", "claude", "codex"];

/**
 * Returns one line per program, such as `config.agent: "command:./agent"`, sorted by path. `agents` are the names in
 * the user's own configuration. Values from user and system templates need no approval.
 */
export function programsOf(resolution: Resolution, agents: readonly string[]): string[] {
  const ofProject = leavesOf(resolution.template).filter(([path]) => isOfProject(path, resolution));
  return linesOf(ofProject, [...AGENTS_OF_ANYBODY, ...agents]);
}

/** Like `programsOf`, for a run from another machine: no part of it has been approved here. */
export function programsOfRun({ agent, template }: { agent: string; template: Template }): string[] {
  return linesOf([["/agent", agent], ...leavesOf(template)], AGENTS_OF_ANYBODY);
}

function linesOf(leaves: readonly [path: string, value: unknown][], approved: readonly string[]): string[] {
  return leaves
    .filter(([path, value]) => {
      if (path === "/config/permissions/mode") return value === "all";
      if (path === "/config/permissions/allow") return Array.isArray(value) && value.length > 0;
      if (typeof value !== "string") return false;
      if (isAgentPath(path)) return !approved.includes(value);
      return isHookPath(path) && /^\s*command:/i.test(value);
    })
    .map(([path, value]) => `${path.slice(1).replaceAll("/", ".")}: ${visible(value)}`)
    .toSorted();
}

/** Like `programsOf`, for agents in a project's configuration, keyed by their path in it. */
export function programsOfAgents(named: Readonly<Record<string, string>>, agents: readonly string[]): string[] {
  const approved = [...AGENTS_OF_ANYBODY, ...agents];
  return Object.entries(named)
    .filter(([, agent]) => !approved.includes(agent))
    .map(([path, agent]) => `${path}: ${visible(agent)}`)
    .toSorted();
}

/** Identifies the list that the user saw when approving. The order of the programs does not matter. */
export function trustHash(programs: readonly string[]): string {
  return createHash("sha256").update(JSON.stringify(programs.toSorted())).digest("hex");
}

function isOfProject(path: string, { chain, places, provenance }: Resolution): boolean {
  const at = chain.indexOf(provenance[path]!);
  return at >= 0 && places[at] === "project";
}

const isAgentPath = (path: string): boolean => /^(\/config|\/phases\/[^/]+)?\/agent$/.test(path);
const isHookPath = (path: string): boolean => /^\/hooks\/[^/]+\/run$/.test(path);

/** Escapes characters that could change how the text appears on a screen. */
function visible(value: unknown): string {
  return JSON.stringify(value).replaceAll(
    /[\p{C}\p{Zl}\p{Zp}]/gu,
    (character) => `\\u{${character.codePointAt(0)!.toString(16)}}`,
  );
}
