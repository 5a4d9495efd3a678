// What a confirmed plan answers.
import type { Run } from "../schema/run.ts";

/** How many sessions were started before the answer, and how many of the other tasks are to be carried out. */
export function encodeConfirmed({ tasks, skipped, workers }: Run) {
  const left = Object.keys(skipped).length;
  const workersCreated = Object.values(workers).filter(({ session }) => session.state !== "spawning").length;
  return { workersCreated, tasksQueued: tasks.length - left - workersCreated, skipped: left };
}
