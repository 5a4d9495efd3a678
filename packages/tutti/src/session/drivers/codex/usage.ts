// `CodexUsageMeter` computes usage per report. The totals of Codex grow over the whole conversation and are repeated
// when it is resumed.
import type { TokenCounts } from "../../dialogue.ts";
import { countOf, type Fields } from "../../json-fields.ts";

const NOTHING: TokenCounts = { inputTokens: 0, outputTokens: 0 };

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
    const previous = this.#total;
    // Smaller totals mean that the count `restarted`.
    const restarted = now.inputTokens < previous.inputTokens || now.outputTokens < previous.outputTokens;
    const from = restarted ? NOTHING : previous;
    this.#total = now;
    const used = {
      inputTokens: now.inputTokens - from.inputTokens,
      outputTokens: now.outputTokens - from.outputTokens,
    };
    return used.inputTokens + used.outputTokens > 0 ? used : null;
  }
}
