import type { History } from "../command.ts";
import { scopesOverlap } from "./scopes.ts";
import { chainLengths, taskWeights } from "../urgency.ts";
import { sentence } from "../../sentence.ts";
import type { Task } from "../../schema/task.ts";

/** `GUESS` has averages that users of coding agents report, for plans without any history. */
const GUESS: History = { samples: 0, msPerTask: 240_000, usdPerTask: 0.5, tokensPerTask: 60_000, msByTitle: {} };
/** `MAX_PAIRS` limits the quadratic search for overlapping scopes. */
const MAX_PAIRS = 20_000;

export interface PlanEstimate {
  basis: "history" | "guess";
  samples: number;
  minutes: number;
  usd: number;
  tokens: number;
  criticalPath: string[];
  criticalMinutes: number;
  advice: string[];
}

export function estimatePlan(tasks: readonly Task[], maxWorkers: number, history = GUESS): PlanEstimate {
  const known = history.samples > 0 ? history : GUESS;
  const weights = taskWeights(tasks);
  const total = [...weights.values()].reduce((sum, weight) => sum + weight, 0);
  // Weights are milliseconds if any task has an `expectedMs`, otherwise only relative.
  const timed = tasks.some(({ expectedMs }) => expectedMs !== undefined);
  const unitMs = timed || total === 0 ? 1 : (known.msPerTask * tasks.length) / total;
  const critical = criticalPath(tasks, weights);
  const criticalWeight = critical.reduce((sum, id) => sum + weights.get(id)!, 0);
  const span = Math.max(criticalWeight, total / Math.max(1, maxWorkers));
  return {
    basis: known === GUESS ? "guess" : "history",
    samples: known.samples,
    minutes: round((span * unitMs) / 60_000),
    usd: round(known.usdPerTask * tasks.length),
    tokens: Math.round(tasks.reduce((sum, { estimatedTokens }) => sum + (estimatedTokens ?? known.tokensPerTask), 0)),
    criticalPath: critical,
    criticalMinutes: round((criticalWeight * unitMs) / 60_000),
    advice: advise(tasks, criticalWeight, total),
  };
}

const round = (value: number): number => Math.round(value * 100) / 100;

function criticalPath(tasks: readonly Task[], weights: ReadonlyMap<string, number>): string[] {
  const lengths = chainLengths(tasks);
  const dependents = new Map<string, string[]>(tasks.map(({ id }) => [id, []]));
  for (const { id, dependencies } of tasks) for (const needed of dependencies) dependents.get(needed)?.push(id);
  const longest = (ids: readonly string[]): string | undefined =>
    ids.reduce<string | undefined>(
      (best, id) => (best === undefined || lengths.get(id)! > lengths.get(best)! ? id : best),
      undefined,
    );
  const path = new Set<string>();
  const roots = tasks.filter(({ dependencies }) => dependencies.length === 0).map(({ id }) => id);
  // An invalid plan may have a cycle behind a root, around which this would never end.
  for (let id = longest(roots); id !== undefined && weights.has(id) && !path.has(id); id = longest(dependents.get(id)!))
    path.add(id);
  return [...path];
}

function advise(tasks: readonly Task[], criticalWeight: number, total: number): string[] {
  const advice: string[] = [];
  if (tasks.length > 1 && criticalWeight >= total * 0.9) {
    advice.push(sentence("almost every task depends on another: several workers will hardly be faster than one"));
  }
  const pair = firstOverlap(tasks);
  if (pair !== null) {
    const [one, other] = pair;
    advice.push(sentence("{one} and {other} name the same files and will not run at the same time", { one, other }));
  }
  return advice;
}

function firstOverlap(tasks: readonly Task[]): [string, string] | null {
  let pairs = 0;
  for (const [i, a] of tasks.entries()) {
    for (const b of tasks.slice(i + 1)) {
      if (++pairs > MAX_PAIRS) return null;
      const related = a.dependencies.includes(b.id) || b.dependencies.includes(a.id);
      if (!related && scopesOverlap(a.scope, b.scope)) return [a.id, b.id];
    }
  }
  return null;
}
