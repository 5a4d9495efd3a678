import { translate } from "../text/language.ts";
import type { Answered } from "../../../tutti/src/client/call-route.ts";
import { BUILT_IN_AGENTS } from "../../../tutti/src/schema/agent/built-in-agents.ts";
import type { Template } from "../../../tutti/src/schema/template.ts";

type Checks = Answered<"GET /api/doctor">["checks"];
type OwnAgents = Answered<"GET /api/settings">["agents"];

interface AgentChoice {
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

/** `chosen` is the agent of phases and roles that name no other. The state comes from `choices`. */
export function agentsByRole(
  { phases, roles = {} }: Template,
  chosen: string,
  choices: readonly AgentChoice[],
): [role: string, agent: string][] {
  const named = [
    ...Object.entries(PHASE_NAMES).map(([name, word]) => [word, phases[name as keyof typeof PHASE_NAMES]] as const),
    ...Object.entries(roles).map(([name, role]) => [name, { enabled: true, ...role }] as const),
  ];
  const state = (agent: string): string => {
    const word = choices.find(({ name }) => name === agent)?.word;
    return word === undefined ? agent : `${agent} (${word})`;
  };
  return named.flatMap(([role, { enabled, agent }]) => (enabled ? [[role, state(agent ?? chosen)]] : []));
}
