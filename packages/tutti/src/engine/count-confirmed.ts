// What became of the tasks of a plan in the moment it was confirmed.
import type { Run } from "../schema/run.ts";

export interface ConfirmedCounts {
  workersCreated: number;
  tasksQueued: number;
  skipped: number;
}

/** How many sessions were started before the answer, and how many of the other tasks are to be carried out. */
export function countConfirmed({ tasks, skipped, workers }: Run): ConfirmedCounts {
  const left = Object.keys(skipped).length;
  const workersCreated = Object.values(workers).filter(({ session }) => session.state !== "spawning").length;
  return { workersCreated, tasksQueued: tasks.length - left - workersCreated, skipped: left };
}
