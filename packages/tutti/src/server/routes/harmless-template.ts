import { TuttiError } from "../../schema/error.ts";

/** Returns `template`, or throws `forbidden` if an agent, a hook or a check in it is a program, or if agents may do more. */
export function mustBeHarmless<T>(template: T): T {
  const where = "on a server that listens beyond loopback";
  if (namesProgram(template))
    throw new TuttiError(
      "forbidden",
      `A template with programs to run is rejected ${where}. Use named agents and hooks.`,
    );
  // Unchecked here: the schema rejects a value of another type.
  const { mode, allow } = members(members(members(template)["config"])["permissions"]);
  if (mode === "all" || (Array.isArray(allow) && allow.length > 0))
    throw new TuttiError("forbidden", `A template with wider permissions is rejected ${where}. Leave them out.`);
  return template;
}

function namesProgram(template: unknown): boolean {
  const { config, phases, hooks, workspace } = members(template);
  if (Object.values(members(workspace)).some((list) => Array.isArray(list) && list.length > 0)) return true;
  const listed = Object.values(members(members(members(phases)["workerExecution"])["agents"]));
  const agents = [config, ...Object.values(members(phases)), ...listed].map((part) => members(part)["agent"]);
  const runs = Object.values(members(hooks)).map((hook) => (typeof hook === "string" ? hook : members(hook)["run"]));
  const checks = ["aggregation", "verification"].map((name) => members(members(phases)[name])["commands"]);
  if (checks.some((commands) => commands === "auto" || (Array.isArray(commands) && commands.length > 0))) return true;
  return [...agents, ...runs].some((name) => typeof name === "string" && name.includes(":"));
}

const members = (value: unknown): Record<string, unknown> =>
  typeof value === "object" && value !== null ? (value as Record<string, unknown>) : {};
