// The npm package p-graph, driven in virtual time: a task's promise is resolved when the clock has come to its end.
import { PGraph } from "p-graph";
import type { Task } from "../../src/schema/task.ts";

/**
 * When p-graph has carried out all tasks with so many at once. It is told nothing but the dependencies, or also how long
 * each task will take, as the priority that it adds up along the chains.
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
    // Everything that follows from what was resolved happens before the next turn of the loop.
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
