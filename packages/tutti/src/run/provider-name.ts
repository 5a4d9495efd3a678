// Who stands behind an agent.

/**
 * Agents of one provider have the same name here: `claude`, `acp:gemini`. `known` says it of those whose name does not,
 * because the person has chosen it.
 */
export function providerOf(agent: string, known: Readonly<Record<string, string>> = {}): string {
  if (Object.hasOwn(known, agent)) return known[agent]!;
  const colon = agent.indexOf(":");
  if (colon < 0) return agent;
  const [program = ""] = agent
    .slice(colon + 1)
    .trim()
    .split(/\s/);
  return `${agent.slice(0, colon)}:${program.slice(program.lastIndexOf("/") + 1)}`;
}
