import { entryOf, withEntry } from "./shared-record.ts";
import type { Run } from "../../schema/run.ts";
import type { SessionState, Worker } from "../../schema/worker.ts";

export function withWorker(run: Run, taskId: string, patch: Partial<Worker>): Run {
  const worker = entryOf(run.workers, taskId);
  return worker ? { ...run, workers: withEntry(run.workers, taskId, { ...worker, ...patch }) } : run;
}

export function withSession(run: Run, taskId: string, patch: Partial<SessionState>, rest: Partial<Worker> = {}): Run {
  const worker = entryOf(run.workers, taskId);
  if (!worker) return run;
  const changed = { ...worker, ...rest, session: { ...worker.session, ...patch } };
  return { ...run, workers: withEntry(run.workers, taskId, changed) };
}
