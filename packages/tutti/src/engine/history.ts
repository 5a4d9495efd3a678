// What tasks took before: for the estimate of a plan.
import type { History } from "../run/command.ts";
import type { Run } from "../schema/run.ts";

/** Tasks that are looked at, the newest first. */
const MAX_SAMPLES = 500;

/** Over the completed tasks of runs with the same agent; by title where the repository is the same too. */
export function historyOf(run: Run, others: Iterable<Run>): History {
  let samples = 0;
  let ms = 0;
  let usd = 0;
  let tokens = 0;
  const msByTitle: Record<string, number> = {};
  const newestFirst = [...others].toSorted((a, b) => b.createdAt - a.createdAt);
  for (const other of newestFirst) {
    if (other.agent !== run.agent || samples >= MAX_SAMPLES) continue;
    for (const { status, startedAt, completedAt, usage, task } of Object.values(other.workers)) {
      if (status !== "completed" || startedAt === null || completedAt === null) continue;
      samples++;
      ms += completedAt - startedAt;
      usd += usage.usd;
      tokens += usage.inputTokens + usage.outputTokens;
      if (other.cwd === run.cwd) msByTitle[task.title] ??= completedAt - startedAt;
    }
  }
  const mean = (sum: number) => (samples === 0 ? 0 : sum / samples);
  return { samples, msPerTask: mean(ms), usdPerTask: mean(usd), tokensPerTask: mean(tokens), msByTitle };
}
