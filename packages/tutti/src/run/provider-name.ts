// Who stands behind an agent.

/** Agents of one provider have the same name here: `claude`, `acp:gemini`. */
export function providerOf(agent: string): string {
  const colon = agent.indexOf(":");
  if (colon < 0) return agent;
  const [program = ""] = agent
    .slice(colon + 1)
    .trim()
    .split(/\s/);
  return `${agent.slice(0, colon)}:${program.slice(program.lastIndexOf("/") + 1)}`;
}
