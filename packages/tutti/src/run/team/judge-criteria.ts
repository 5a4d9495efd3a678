import type { RunEvent } from "../../schema/event.ts";
import type { Run } from "../../schema/run.ts";
import type { Worker } from "../../schema/worker.ts";

/** Returns one event for each criterion with a verdict in `met`. */
export const judgeCriteria = (run: Run, { taskId, task }: Worker, met: readonly unknown[], by: string): RunEvent[] =>
  (task.acceptanceCriteria ?? []).flatMap((criterion, index): RunEvent[] => {
    const isMet = met[index];
    if (typeof isMet !== "boolean") return [];
    return [{ type: "criterion:judged", data: { id: run.id, taskId, index, criterion, met: isMet, by } }];
  });
