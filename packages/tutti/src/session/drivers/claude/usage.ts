// What was used, as differences. Claude Code's totals grow over the whole conversation, also after it was taken up again
// by another process; where it tells the difference itself, that is taken.
import { asNumber, asObject, type Message } from "./wire.ts";

export interface Spent {
  inputTokens: number;
  outputTokens: number;
  usd: number;
}

const NOTHING: Spent = { inputTokens: 0, outputTokens: 0, usd: 0 };

export class UsageMeter {
  #total = NOTHING;

  /** What a result adds to what is known; null if that is nothing. */
  read(result: Message): Spent | null {
    const total = sum(result["modelUsage"]);
    const own = result["model_usage_since_last_result"];
    const spent = own === undefined ? since(total, this.#total) : sum(own);
    // The result of a process that failed at its start has no totals at all.
    if (total.inputTokens + total.outputTokens > 0) this.#total = total;
    return spent.inputTokens + spent.outputTokens + spent.usd > 0 ? spent : null;
  }
}

/** What went through the cache was read too; its lower price is in the money. */
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

/** Totals that have become smaller have begun anew. */
function since(total: Spent, before: Spent): Spent {
  const anew = total.inputTokens < before.inputTokens || total.outputTokens < before.outputTokens;
  if (anew) return total;
  return {
    inputTokens: total.inputTokens - before.inputTokens,
    outputTokens: total.outputTokens - before.outputTokens,
    usd: Math.max(total.usd - before.usd, 0),
  };
}
