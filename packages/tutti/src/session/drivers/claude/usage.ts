// `ClaudeUsageMeter` computes usage per result. The totals of Claude Code grow over the whole conversation, also in a
// resumed one. If a result contains the difference itself, the meter uses that.
import type { TokenCounts } from "../../dialogue.ts";
import { countOf, recordOf, type Fields } from "../../json-fields.ts";
import { tokensSince } from "../dialogue-parts.ts";

interface Spent extends TokenCounts {
  usd: number;
}

const NOTHING: Spent = { inputTokens: 0, outputTokens: 0, usd: 0 };

export class ClaudeUsageMeter {
  #total: Spent;

  /** `used` are the totals of a resumed conversation. */
  constructor(used: Spent = NOTHING) {
    this.#total = used;
  }

  /** Null if `result` adds nothing. */
  read(result: Fields): Spent | null {
    const total = sum(result["modelUsage"]);
    const difference = result["model_usage_since_last_result"];
    const spent = difference === undefined ? since(total, this.#total) : sum(difference);
    // The result of a process that failed at its start has no totals.
    if (total.inputTokens + total.outputTokens > 0) this.#total = total;
    return spent.inputTokens + spent.outputTokens + spent.usd > 0 ? spent : null;
  }
}

/** The tokens of the last request and answer of the main agent, and the window of its `model`. */
export function contextOf(last: { model: string; tokens: number } | null, result: Fields) {
  if (last === null) return {};
  const models = recordOf(result["modelUsage"]);
  const windowOf = (usage: unknown): number => countOf(recordOf(usage)["contextWindow"]);
  const known = Object.values(models)
    .map(windowOf)
    .filter((size) => size > 0);
  const window = windowOf(models[last.model]) || Math.min(...known);
  return { contextTokens: last.tokens, ...(Number.isFinite(window) ? { contextWindow: window } : {}) };
}

/** Cached tokens count as `inputTokens`. Their lower price is part of `usd`. */
function sum(models: unknown): Spent {
  return Object.values(recordOf(models))
    .map(recordOf)
    .reduce<Spent>(
      (all, each) => ({
        inputTokens:
          all.inputTokens +
          countOf(each["inputTokens"]) +
          countOf(each["cacheReadInputTokens"]) +
          countOf(each["cacheCreationInputTokens"]),
        outputTokens: all.outputTokens + countOf(each["outputTokens"]),
        usd: all.usd + countOf(each["costUSD"]),
      }),
      NOTHING,
    );
}

function since(total: Spent, previous: Spent): Spent {
  const tokens = tokensSince(total, previous);
  return tokens === null ? total : { ...tokens, usd: Math.max(total.usd - previous.usd, 0) };
}
