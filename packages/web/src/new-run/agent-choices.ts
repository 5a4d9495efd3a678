import { translate } from "../text/language.ts";
import { shown } from "../text/safe-text.ts";
import type { Answered } from "../../../tutti/src/client/call-route.ts";
import { BUILT_IN_AGENTS } from "../../../tutti/src/schema/agent/built-in-agents.ts";

type Checks = Answered<"GET /api/doctor">["checks"];
type OwnAgents = Answered<"GET /api/settings">["agents"];

export interface AgentChoice {
  name: string;
  word: string;
  note: string;
}

export function agentChoices(checks: Checks, own: OwnAgents): AgentChoice[] {
  const built = BUILT_IN_AGENTS.flatMap((name): AgentChoice[] => {
    const found = checks.filter((check) => check.name === `agent ${name}` || check.name === `login ${name}`);
    if (found.length === 0) return [];
    const problem = found.find(({ status }) => status !== "ok");
    const { found: what = "", advice = "" } = problem ?? found[0] ?? {};
    return [
      { name, word: translate(problem ? "not ready" : "ready"), note: [what, advice].filter(Boolean).join(". ") },
    ];
  });
  return [...built, ...own.map(({ name, agent }) => ({ name, word: translate("your own"), note: agent }))];
}

const PHASE_NAMES = {
  analysis: translate("Analysis"),
  taskPlanning: translate("Plan"),
  workerExecution: translate("Workers"),
  aggregation: translate("Merge#phase"),
  verification: translate("Verification"),
} as const;

/** The name of a phase or role of `agentsByRole`. */
export const roleWord = (name: string): string =>
  Object.hasOwn(PHASE_NAMES, name) ? PHASE_NAMES[name as keyof typeof PHASE_NAMES] : shown(name, 80);

/** The agent with the state that `tutti doctor` finds. */
export function withState(agent: string, choices: readonly AgentChoice[]): string {
  const word = choices.find(({ name }) => name === agent)?.word;
  return word === undefined ? shown(agent, 80) : `${agent} (${word})`;
}
