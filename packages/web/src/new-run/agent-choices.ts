import type { Answered } from "../../../tutti/src/client/call-route.ts";

type Checks = Answered<"GET /api/doctor">["checks"];
type OwnAgents = Answered<"GET /api/settings">["agents"];

export interface AgentChoice {
  name: string;
  word: "ready" | "not ready" | "your own";
  note: string;
}

/** The built-in agents with their state, and the user's own. */
export function agentChoices(checks: Checks, own: OwnAgents): AgentChoice[] {
  const built = ["local", "claude", "codex"].flatMap((name): AgentChoice[] => {
    const found = checks.filter((check) => check.name === `agent ${name}` || check.name === `login ${name}`);
    if (found.length === 0) return [];
    const problem = found.find(({ status }) => status !== "ok");
    const { found: what = "", advice = "" } = problem ?? found[0] ?? {};
    return [{ name, word: problem ? "not ready" : "ready", note: [what, advice].filter(Boolean).join(". ") }];
  });
  return [...built, ...own.map(({ name, agent }) => ({ name, word: "your own" as const, note: agent }))];
}
