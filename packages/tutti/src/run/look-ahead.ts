// The order of starting, tried out beforehand. Starting what has the longest chain behind it is good, but it knows
// nothing of the number of workers. So the plan is carried out on paper, from its beginning and then from its end
// backwards, by turns: what could start late without making the whole longer should start late. The order with which
// the whole took the shortest time is taken.
import { linksOf, type Links } from "./graph.ts";
import type { Task } from "../schema/task.ts";

/** With more tasks than this the workers are busy in any sensible order. */
const MOST_TASKS = 2000;
const ROUNDS = 8;

interface Rehearsal {
  /** The places of the tasks, the first to start first. */
  order: number[];
  /** When each task ended, and when the last one did. */
  ends: number[];
  span: number;
}

/** An order of the tasks, by their places, that is at least as good as by `ahead`, the chain lengths. Priority goes first. */
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
    // Backwards: what ended last begins. Then forwards: what ended last on the way back begins.
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

/** Carries the tasks out: whenever a worker is free, the first in the order that can start does. */
function rehearse(links: Links, weights: readonly number[], order: number[], workers: number): Rehearsal {
  const ranks: number[] = [];
  for (const [rank, place] of order.entries()) ranks[place] = rank;
  const open = links.needs.map((needs) => needs.length);
  // The most urgent stands last, where it is taken from.
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

/** Into a list in which the ranks descend. */
function insert(list: number[], place: number, ranks: readonly number[]): void {
  let [from, to] = [0, list.length];
  while (from < to) {
    const middle = (from + to) >> 1;
    if (ranks[list[middle]!]! > ranks[place]!) from = middle + 1;
    else to = middle;
  }
  list.splice(from, 0, place);
}
