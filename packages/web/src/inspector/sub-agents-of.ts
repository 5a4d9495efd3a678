import type { Run, Subagent } from "../../../tutti/src/schema/run.ts";

type SubAgentRow = [id: string, subagent: Subagent, depth: number];

/** Sorted by `startedAt`, children after their parent. */
export function subAgentsOf({ subagents = {} }: Run, taskId: string | null): SubAgentRow[] {
  const own = Object.entries(subagents)
    .filter(([, subagent]) => subagent.taskId === taskId)
    .toSorted(([, a], [, b]) => a.startedAt - b.startedAt);
  const ids = new Set(own.map(([id]) => id));
  const below = (parent: string | null, depth: number): SubAgentRow[] =>
    own
      .filter(([, { parentSessionId }]) =>
        parent === null ? !ids.has(parentSessionId ?? "") : parentSessionId === parent,
      )
      .flatMap(([id, subagent]): SubAgentRow[] => [[id, subagent, depth], ...below(id, depth + 1)]);
  return below(null, 0);
}
