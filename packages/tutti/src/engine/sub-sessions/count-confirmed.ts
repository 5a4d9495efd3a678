import type { Run } from "../../schema/run.ts";

export interface ConfirmedCounts {
  workersCreated: number;
  tasksQueued: number;
  skipped: number;
}

/**
 * `workersCreated` are the sessions that exist when a plan is confirmed, `tasksQueued` the tasks that still have to
 * run.
 */
export function countConfirmed({ tasks, skipped, workers }: Run): ConfirmedCounts {
  const skippedCount = Object.keys(skipped).length;
  const workersCreated = Object.values(workers).filter(({ session }) => session.state !== "spawning").length;
  return { workersCreated, tasksQueued: tasks.length - skippedCount - workersCreated, skipped: skippedCount };
}
