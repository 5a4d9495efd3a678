// `lookAhead` improves the start order by simulation. "Longest chain first" ignores the number of workers. The plan is
// therefore simulated forwards and backwards in turn, which delays tasks that can start late without extending the
// whole, and the order with the shortest simulated duration wins.
import { linksOf, type Links } from "./graph.ts";
import type { Task } from "../../schema/task.ts";

/**
 * Plans with more than `MOST_TASKS` keep the workers busy in any sensible order, so the simulation is not worth its
 * cost.
 */
const MOST_TASKS = 2000;
const ROUNDS = 8;

interface Rehearsal {
  /** Task indices in start order. */
  order: number[];
  ends: number[];
  /** When the last task ends. */
  span: number;
}

/** Returns task indices in an order that is at least as good as sorting by `ahead`, the chain lengths. Priority wins. */
export function lookAhead(
  tasks: readonly Task[],
  weights: readonly number[],
  ahead: readonly number[],
  workers: number,
): number[] {
  const urgent = (values: readonly number[]) => (a: number, b: number) =>
    tasks[a]!.priority - tasks[b]!.priority || values[b]! - values[a]! || a - b;
  const places = tasks.map((_, place) => place);
  const first = places.toSorted(urgent(ahead));
  if (workers === 1 || tasks.length <= workers || tasks.length > MOST_TASKS) return first;
  const links = linksOf(tasks);
  const reversed: Links = { ...links, needs: links.dependents, dependents: links.needs };
  const work = weights.reduce((sum, weight) => sum + weight, 0);
  const bound = Math.max(work / workers, ...ahead);
  let best = rehearse(links, weights, first, workers);
  let last = best;
  for (let round = 0; round < ROUNDS && best.span > bound; round++) {
    // Each pass of `rehearse` starts the tasks first that ended last in the pass before.
    const back = rehearse(
      reversed,
      weights,
      places.toSorted((a, b) => last.ends[b]! - last.ends[a]! || a - b),
      workers,
    );
    last = rehearse(links, weights, places.toSorted(urgent(back.ends)), workers);
    if (last.span < best.span) best = last;
  }
  return best.order;
}

/** Simulates the plan: a free worker takes the first task in `order` that can start. */
function rehearse(links: Links, weights: readonly number[], order: number[], workers: number): Rehearsal {
  const ranks: number[] = [];
  for (const [rank, place] of order.entries()) ranks[place] = rank;
  const open = links.needs.map((needs) => needs.length);
  // Most urgent last, because `pop` takes the last one.
  const ready = order.filter((place) => open[place] === 0).toReversed();
  const ends: number[] = weights.map(() => 0);
  const running: number[] = [];
  let now = 0;
  for (;;) {
    while (running.length < workers && ready.length > 0) {
      const place = ready.pop()!;
      ends[place] = now + weights[place]!;
      running.push(place);
    }
    if (running.length === 0) return { order, ends, span: now };
    now = Math.min(...running.map((place) => ends[place]!));
    for (let i = running.length - 1; i >= 0; i--) {
      if (ends[running[i]!] !== now) continue;
      const [place] = running.splice(i, 1);
      for (const next of links.dependents[place!]!) if (--open[next]! === 0) insert(ready, next, ranks);
    }
  }
}

/** Inserts `place` into a list sorted by descending rank. */
function insert(list: number[], place: number, ranks: readonly number[]): void {
  let [from, to] = [0, list.length];
  while (from < to) {
    const middle = (from + to) >> 1;
    if (ranks[list[middle]!]! > ranks[place]!) from = middle + 1;
    else to = middle;
  }
  list.splice(from, 0, place);
}
