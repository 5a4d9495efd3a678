import type { RunUsage } from "../../schema/api/run-values.ts";
import type { StoredEvent } from "../../schema/event.ts";
import { addUsage, NO_USAGE } from "../../schema/outcome.ts";
import type { Run } from "../../schema/run.ts";
import { addTools, NO_TOOLS } from "../../schema/worker.ts";

export function encodeUsage({ usage, toolStats, turns, budget }: Run, events: Iterable<StoredEvent>): RunUsage {
  const sessions = new Map<string, RunUsage["sessions"][number]>();
  for (const { type, data } of events) {
    if (type === "turn:started" || type === "turn:ended" || type === "turn:abandoned") {
      const { sessionId, taskId } = data;
      const session = sessions.get(sessionId) ?? { sessionId, taskId, turns: 0, usage: NO_USAGE, toolStats: NO_TOOLS };
      const change =
        type === "turn:started"
          ? { turns: session.turns + 1 }
          : { usage: addUsage(session.usage, data.usage), toolStats: addTools(session.toolStats, data.toolStats) };
      sessions.set(sessionId, { ...session, ...change });
    }
  }
  return { usage, toolStats, turns, budget, sessions: [...sessions.values()] };
}
