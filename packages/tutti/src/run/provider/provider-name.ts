/**
 * Returns the provider of an agent, for example `claude` or `acp:gemini`. `known` maps user-defined agent names, which do
 * not contain their provider.
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
