// `CodexUsageMeter` computes usage per report. The totals of Codex grow over the whole conversation and are repeated
// when it is resumed.
import type { TokenCounts } from "../../dialogue.ts";
import { countOf, recordOf, type Fields } from "../../json-fields.ts";
import { tokensSince } from "../dialogue-parts.ts";

const NOTHING: TokenCounts = { inputTokens: 0, outputTokens: 0 };

/** The size of the conversation is that of the `last` request and answer. */
export function contextOf({ last, modelContextWindow }: Fields) {
  const contextTokens = countOf(recordOf(last)["totalTokens"]);
  const contextWindow = countOf(modelContextWindow);
  return { ...(contextTokens > 0 && { contextTokens }), ...(contextWindow > 0 && { contextWindow }) };
}

export class CodexUsageMeter {
  #total: TokenCounts;

  /** `used` are the totals of a resumed conversation. */
  constructor(used: TokenCounts = NOTHING) {
    this.#total = used;
  }

  /** Call `begin` for a new conversation. */
  begin(): void {
    this.#total = NOTHING;
  }

  /** Null if nothing was added. Cached tokens count as `inputTokens`. */
  read(total: Fields): TokenCounts | null {
    const now = { inputTokens: countOf(total["inputTokens"]), outputTokens: countOf(total["outputTokens"]) };
    const used = tokensSince(now, this.#total) ?? now;
    this.#total = now;
    return used.inputTokens + used.outputTokens > 0 ? used : null;
  }
}
