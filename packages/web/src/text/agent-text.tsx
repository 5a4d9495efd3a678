import { shown } from "./safe-text.ts";

/** A bounded piece of foreign text within a line. It keeps its reading direction to itself. */
export function AgentText({ text, max = 300 }: { text: string; max?: number }) {
  return <bdi className="agent-text">{shown(text, max)}</bdi>;
}
