// Rejects templates that name programs, for servers that other machines can reach.
import { TuttiError } from "../../schema/error.ts";

/** Returns `template`, or throws `forbidden` if an agent or a hook in it is a program. */
export function mustBeHarmless<T>(template: T): T {
  if (!namesProgram(template)) return template;
  throw new TuttiError(
    "forbidden",
    "A template with programs to run is rejected on a server that listens beyond loopback. Use named agents and hooks.",
  );
}

function namesProgram(template: unknown): boolean {
  const { config, phases, hooks } = members(template);
  const agents = [config, ...Object.values(members(phases))].map((part) => members(part)["agent"]);
  const runs = Object.values(members(hooks)).map((hook) => (typeof hook === "string" ? hook : members(hook)["run"]));
  return [...agents, ...runs].some((name) => typeof name === "string" && name.includes(":"));
}

const members = (value: unknown): Record<string, unknown> =>
  typeof value === "object" && value !== null ? (value as Record<string, unknown>) : {};
