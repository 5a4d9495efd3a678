// Computes usage per result. The totals of Claude Code grow over the whole conversation, also in a resumed one. If a
// result contains the difference itself, the meter uses that.
import { asNumber, asObject, type Message } from "./wire.ts";

export interface Spent {
  inputTokens: number;
  outputTokens: number;
  usd: number;
}

const NOTHING: Spent = { inputTokens: 0, outputTokens: 0, usd: 0 };

export class ClaudeUsageMeter {
  #total = NOTHING;

  /** Null if the result adds nothing. */
  read(result: Message): Spent | null {
    const total = sum(result["modelUsage"]);
    const difference = result["model_usage_since_last_result"];
    const spent = difference === undefined ? since(total, this.#total) : sum(difference);
    // The result of a process that failed at its start has no totals.
    if (total.inputTokens + total.outputTokens > 0) this.#total = total;
    return spent.inputTokens + spent.outputTokens + spent.usd > 0 ? spent : null;
  }
}

/** Cached tokens count as input. Their lower price is part of `usd`. */
function sum(models: unknown): Spent {
  const count = (value: unknown): number => Math.max(asNumber(value) ?? 0, 0);
  return Object.values(asObject(models))
    .map(asObject)
    .reduce<Spent>(
      (all, each) => ({
        inputTokens:
          all.inputTokens +
          count(each["inputTokens"]) +
          count(each["cacheReadInputTokens"]) +
          count(each["cacheCreationInputTokens"]),
        outputTokens: all.outputTokens + count(each["outputTokens"]),
        usd: all.usd + count(each["costUSD"]),
      }),
      NOTHING,
    );
}

/** Smaller totals mean that the count restarted. */
function since(total: Spent, previous: Spent): Spent {
  const restarted = total.inputTokens < previous.inputTokens || total.outputTokens < previous.outputTokens;
  if (restarted) return total;
  return {
    inputTokens: total.inputTokens - previous.inputTokens,
    outputTokens: total.outputTokens - previous.outputTokens,
    usd: Math.max(total.usd - previous.usd, 0),
  };
}
