import { shown } from "./safe-text.ts";

/** Untrusted text within a line, truncated to `max`. `bdi` isolates its reading direction. */
export function AgentText({ text, max = 300 }: { text: string; max?: number }) {
  return <bdi className="agent-text">{shown(text, max)}</bdi>;
}
