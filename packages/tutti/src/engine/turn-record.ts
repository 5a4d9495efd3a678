// What happens in one turn, gathered signal by signal until it can be judged.
import { countTool } from "./tool-stats.ts";
import { ResponseScanner, type Delimiters, type ScannedBlock } from "../protocol/response-scanner.ts";
import { NO_USAGE, type Usage } from "../schema/outcome.ts";
import { NO_TOOLS, type ToolStats } from "../schema/worker.ts";

/** Enough to show a person what the agent said last, and what it said instead of an answer. */
const LAST_WORDS = 400;
const SAID = 4000;
const STARTS_AN_AGENT = new Set(["Task", "Agent"]);
const ACTS_AT_ONCE = new Set(["progress", "heartbeat"]);

export class TurnRecord {
  /** Blocks that may be the answer; what acts as it arrives is not kept. */
  readonly blocks: ScannedBlock[] = [];
  lastBlock: ScannedBlock | null = null;
  toolStats: ToolStats = NO_TOOLS;
  usage: Usage = NO_USAGE;
  #said = "";
  /** How many agents of its own it has started. */
  subagents = 0;
  readonly #scanner: ResponseScanner;

  constructor(delimiters: Delimiters) {
    this.#scanner = new ResponseScanner(delimiters);
  }

  /** Returns the blocks that became complete. A block does not reach from one message into the next. */
  text(text: string, complete: boolean): ScannedBlock[] {
    const found = this.#scanner.push(text);
    // The same scanner for all of them: a session may send a million messages, and each would leave one behind.
    if (complete) found.push(...this.#scanner.end());
    this.blocks.push(...found.filter((block) => !block.ok || !ACTS_AT_ONCE.has(block.phase)));
    this.lastBlock = found.at(-1) ?? this.lastBlock;
    this.#said += text.slice(-SAID);
    // Cut now and then only: to cut after every message would copy all of it a million times.
    if (this.#said.length > 16 * SAID) this.#said = this.said;
    return found;
  }

  /** The end of what was said. */
  get said(): string {
    return this.#said.slice(-SAID);
  }

  get lastWords(): string {
    return this.said.slice(-LAST_WORDS);
  }

  tool(name: string): void {
    this.toolStats = countTool(this.toolStats, name);
    if (STARTS_AN_AGENT.has(name)) this.subagents += 1;
  }

  spend(usage: Usage): void {
    this.usage = {
      inputTokens: this.usage.inputTokens + usage.inputTokens,
      outputTokens: this.usage.outputTokens + usage.outputTokens,
      usd: this.usage.usd + usage.usd,
    };
  }
}
