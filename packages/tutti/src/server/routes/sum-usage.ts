// `sumUsage` adds the turns in the log by day, run, agent, model, template or repository.
import { setImmediate as nextTurn } from "node:timers/promises";
import type { Engine } from "../../engine/engine.ts";
import type { UsageGroup, UsageRow } from "../../schema/api/machine-routes.ts";
import type { RunEvent } from "../../schema/event.ts";
import { addUsage, type Usage } from "../../schema/outcome.ts";

type DataOf<Type extends RunEvent["type"]> = Extract<RunEvent, { type: Type }>["data"];

/** After `SLICE` events other requests get a turn. */
const SLICE = 2000;

interface EndedTurn {
  at: number;
  sessionId: string;
  usage: Usage;
}

export async function sumUsage(engine: Engine, by: UsageGroup): Promise<UsageRow[]> {
  const runs = new Map(engine.summaries().map((run) => [run.id, run]));
  const turns = new Map<string, EndedTurn[]>();
  const sessions = new Map<string, { agent?: string | undefined; model?: string | undefined }>();
  let read = 0;
  for (const { run, type, timestamp: at, data } of engine.readRawEvents({})) {
    if (++read % SLICE === 0) await nextTurn();
    if (run === null || !runs.has(run)) continue;
    if (type === "worker:spawning" || type === "main:spawning") {
      const spawned = JSON.parse(data) as DataOf<"worker:spawning">;
      sessions.set(spawned.sessionId, { agent: spawned.agent, model: spawned.model });
    } else if (type === "turn:ended" || type === "turn:abandoned") {
      const { sessionId, usage } = JSON.parse(data) as DataOf<"turn:abandoned">;
      const ended = turns.get(run) ?? [];
      ended.push({ at, sessionId, usage });
      turns.set(run, ended);
    } else if (type === "orchestrator:forked") {
      // The turns before `orchestrator:forked` were copied from the original run, which has paid for them.
      turns.delete(run);
    }
  }
  const keyOf = (id: string, { at, sessionId }: EndedTurn): string => {
    const run = runs.get(id)!;
    const session = sessions.get(sessionId);
    switch (by) {
      case "day":
        return new Date(at).toISOString().slice(0, 10);
      case "run":
        return id;
      case "agent":
        return session?.agent ?? run.agent;
      case "model":
        return session?.model ?? "default";
      case "template":
        return run.templateId;
      case "repository":
        return run.cwd;
    }
  };
  const rows = new Map<string, UsageRow>();
  for (const [id, ended] of turns) {
    const counted = new Set<string>();
    for (const turn of ended) {
      const key = keyOf(id, turn);
      const row = rows.get(key) ?? { key, runs: 0, turns: 0, inputTokens: 0, outputTokens: 0, usd: 0 };
      rows.set(key, {
        key,
        runs: row.runs + (counted.has(key) ? 0 : 1),
        turns: row.turns + 1,
        ...addUsage(row, turn.usage),
      });
      counted.add(key);
    }
  }
  return [...rows.values()].sort((a, b) => (a.key < b.key ? -1 : 1));
}
