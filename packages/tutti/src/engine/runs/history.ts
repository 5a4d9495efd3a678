import type { RunSummary } from "./finished-runs.ts";
import type { History } from "../../run/command.ts";
import type { Run } from "../../schema/run.ts";

const MAX_SAMPLES = 500;

/**
 * Averages the newest `MAX_SAMPLES` completed tasks of runs with the same agent. Titles count only in the same
 * repository.
 */
export function historyOf(run: Run, others: readonly RunSummary[]): History {
  let [samples, ms, usd, tokens] = [0, 0, 0, 0];
  const msByTitle: Record<string, number> = {};
  for (const { agent, cwd, took } of others.toSorted((a, b) => b.createdAt - a.createdAt)) {
    if (agent !== run.agent || samples >= MAX_SAMPLES) continue;
    samples += took.tasks;
    ms += took.ms;
    usd += took.usd;
    tokens += took.tokens;
    if (cwd === run.cwd) for (const [title, each] of Object.entries(took.msByTitle)) msByTitle[title] ??= each;
  }
  const mean = (sum: number) => (samples === 0 ? 0 : sum / samples);
  return { samples, msPerTask: mean(ms), usdPerTask: mean(usd), tokensPerTask: mean(tokens), msByTitle };
}
