// What was used, as differences. Codex's totals grow over the whole conversation, and come again when it is taken up by
// another process.
import { countOf, type Fields } from "../acp/fields.ts";

export interface Used {
  inputTokens: number;
  outputTokens: number;
}

const NOTHING: Used = { inputTokens: 0, outputTokens: 0 };

export class UsageMeter {
  #total = NOTHING;

  /** Another conversation counts from nothing. */
  begin(): void {
    this.#total = NOTHING;
  }

  /** Null if nothing was added. What was read from a cache was read too. */
  read(total: Fields): Used | null {
    const now = { inputTokens: countOf(total["inputTokens"]), outputTokens: countOf(total["outputTokens"]) };
    const before = this.#total;
    // Totals that have become smaller have begun anew.
    const anew = now.inputTokens < before.inputTokens || now.outputTokens < before.outputTokens;
    const from = anew ? NOTHING : before;
    this.#total = now;
    const used = {
      inputTokens: now.inputTokens - from.inputTokens,
      outputTokens: now.outputTokens - from.outputTokens,
    };
    return used.inputTokens + used.outputTokens > 0 ? used : null;
  }
}
