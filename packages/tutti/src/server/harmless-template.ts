// A template that comes over the wire to a server that others can reach: it may describe work, but not name programs.
import { TuttiError } from "../schema/error.ts";

/** Returns it as it is, or refuses it. */
export function mustBeHarmless<T>(template: T): T {
  if (!namesProgram(template)) return template;
  throw new TuttiError("forbidden", "beyond loopback a template may not name programs to run");
}

function namesProgram(template: unknown): boolean {
  const { config, phases, hooks } = members(template);
  const agents = [config, ...Object.values(members(phases))].map((part) => members(part)["agent"]);
  const runs = Object.values(members(hooks)).map((hook) => (typeof hook === "string" ? hook : members(hook)["run"]));
  return [...agents, ...runs].some((name) => typeof name === "string" && name.includes(":"));
}

const members = (value: unknown): Record<string, unknown> =>
  typeof value === "object" && value !== null ? (value as Record<string, unknown>) : {};
