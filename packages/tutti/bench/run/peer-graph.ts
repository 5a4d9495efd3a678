// Runs the npm package p-graph in virtual time: a task's promise resolves when the clock reaches its end.
import { PGraph } from "p-graph";
import type { Task } from "../../src/schema/task.ts";

/**
 * Returns the time at which p-graph has executed all tasks with `workers` at once. With `isToldDurations` it also gets
 * each task's duration as the priority that it adds up along the chains.
 */
export async function peerMakespan(tasks: readonly Task[], workers: number, isToldDurations: boolean): Promise<number> {
  const ends: { at: number; resolve: () => void }[] = [];
  let now = 0;
  const nodes = tasks.map(({ id, expectedMs = 1 }): [string, { run: () => Promise<void>; priority?: number }] => {
    const run = (): Promise<void> => new Promise((resolve) => ends.push({ at: now + expectedMs, resolve }));
    return [id, isToldDurations ? { run, priority: expectedMs } : { run }];
  });
  const edges = tasks.flatMap(({ id, dependencies }) => dependencies.map((needed): [string, string] => [needed, id]));
  let isOver = false;
  const done = new PGraph(new Map(nodes), edges).run({ concurrency: workers }).then(() => (isOver = true));
  for (;;) {
    // All consequences of a resolved promise run before the next turn of the event loop.
    await new Promise((resolve) => setImmediate(resolve));
    if (isOver) break;
    now = Math.min(...ends.map(({ at }) => at));
    for (const each of ends.splice(0)) {
      if (each.at === now) each.resolve();
      else ends.push(each);
    }
  }
  await done;
  return now;
}
