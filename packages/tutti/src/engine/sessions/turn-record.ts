import { countTool } from "./tool-stats.ts";
import { ResponseScanner, type Delimiters, type ScannedBlock } from "../../protocol/response/response-scanner.ts";
import { wordsOutsideBlocks } from "../../protocol/response/words-outside-blocks.ts";
import { isOwnTool } from "../../session/tools/own-tool.ts";
import { addUsage, NO_USAGE, type Usage } from "../../schema/outcome.ts";
import { NO_TOOLS, type ToolStats } from "../../schema/worker.ts";

/** `PREVIEW_CHARACTERS` are kept for progress events, `SAID_CHARACTERS` for an answer without a block. */
const PREVIEW_CHARACTERS = 400;
const SAID_CHARACTERS = 4000;
/** A block is read in one step, and `maxRepair` is lower because a damaged block takes ten times as long. */
const BLOCK_LIMITS = { maxBlockBytes: 1024 * 1024, maxRepair: 128 * 1024 };
/**
 * Older blocks are dropped when there are more than `MAX_BLOCKS` or more than `MAX_BLOCKS_LENGTH` characters of them.
 */
const MAX_BLOCKS = 100;
const MAX_BLOCKS_LENGTH = 4 * 1024 * 1024;
const MAX_TEXT_LENGTH = 2 * 1024 * 1024;
const STARTS_AN_AGENT = new Set(["Task", "Agent"]);
const IS_A_MESSAGE = new Set(["new_task", "attempt_completion"]);
const MAX_CALLS = 50;
const ACTS_AT_ONCE = new Set(["progress", "heartbeat"]);

export class TurnRecord {
  /** Blocks that may be the answer; those in `ACTS_AT_ONCE` take effect on arrival and are not kept. */
  readonly blocks: ScannedBlock[] = [];
  lastBlock: ScannedBlock | null = null;
  /** Messages of document 002 (`IS_A_MESSAGE`) that the agent sent with tools. */
  readonly calls: Record<string, unknown>[] = [];
  toolStats: ToolStats = NO_TOOLS;
  usage: Usage = NO_USAGE;
  #blocksLength = 0;
  #said = "";
  /** The end of the last whole message that is not empty. */
  lastMessage = "";
  #message = "";
  subagents = 0;
  /** Ids of calls that have not failed. */
  readonly #calls = new Set<string>();
  readonly #scanner: ResponseScanner;
  readonly #delimiters: Delimiters;
  readonly #keepsText: boolean;
  readonly #texts: string[] = [];
  #textLength = 0;
  /** Whether the beginning of a text longer than `MAX_TEXT_LENGTH` was dropped. */
  isCut = false;

  /** `keepsText` is for roles that answer with messages, which `wholeText` must contain. */
  constructor(delimiters: Delimiters, keepsText = false) {
    this.#delimiters = delimiters;
    this.#keepsText = keepsText;
    this.#scanner = new ResponseScanner({ ...delimiters, ...BLOCK_LIMITS });
  }

  /** Returns the blocks that `text` completes. A block cannot span two messages. */
  text(text: string, complete: boolean): ScannedBlock[] {
    this.#keepText(text);
    const found = this.#scanner.push(text);
    // Reuse `#scanner`: a session may send a million messages.
    if (complete) found.push(...this.#scanner.end());
    for (const block of found) if (!block.ok || !ACTS_AT_ONCE.has(block.phase)) this.#keep(block);
    this.lastBlock = found.at(-1) ?? this.lastBlock;
    this.#message = (this.#message + text.slice(-SAID_CHARACTERS)).slice(-SAID_CHARACTERS);
    if (complete && this.#message.trim() !== "") this.lastMessage = this.#message;
    if (complete) this.#message = "";
    this.#said += text.slice(-SAID_CHARACTERS);
    // Truncate `#said` rarely: after every message it would copy the text a million times.
    if (this.#said.length > 16 * SAID_CHARACTERS) this.#said = this.said;
    return found;
  }

  #keepText(text: string): void {
    if (!this.#keepsText) return;
    this.#texts.push(text);
    this.#textLength += text.length;
    for (; this.#textLength > MAX_TEXT_LENGTH; this.isCut = true) this.#textLength -= this.#texts.shift()!.length;
  }

  /** Only the end if the turn's text is longer than `MAX_TEXT_LENGTH`. Empty without `keepsText`. */
  get wholeText(): string {
    return this.#texts.join("");
  }

  /** An answer by a tool of Tutti counts like a block, and a message of document 002 like one in the text. */
  report(phase: string, data: Record<string, unknown>): void {
    if (IS_A_MESSAGE.has(phase)) return void (this.calls.length < MAX_CALLS && this.calls.push(data));
    const block: ScannedBlock = { ok: true, phase, data, raw: JSON.stringify(data), repairs: [] };
    this.#keep(block);
    this.lastBlock = block;
  }

  #keep(block: ScannedBlock): void {
    this.blocks.push(block);
    this.#blocksLength += block.raw.length;
    while (this.blocks.length > MAX_BLOCKS || (this.#blocksLength > MAX_BLOCKS_LENGTH && this.blocks.length > 1))
      this.#blocksLength -= this.blocks.shift()!.raw.length;
  }

  /** At most `SAID_CHARACTERS`, from the end of the agent's text. */
  get said(): string {
    return this.#said.slice(-SAID_CHARACTERS);
  }

  /** The end of the agent's text, without its blocks (`wordsOutsideBlocks`), for users. */
  get lastWords(): string {
    return wordsOutsideBlocks(this.#said, this.#delimiters).slice(-PREVIEW_CHARACTERS);
  }

  tool(name: string, id?: string): void {
    // `isOwnTool` is true for tools that report: a report is a claim about work, not work.
    if (isOwnTool(name)) return;
    this.toolStats = countTool(this.toolStats, name);
    if (id !== undefined) this.#calls.add(id);
    if (STARTS_AN_AGENT.has(name)) this.subagents += 1;
  }

  /** Ignores unknown ids: a call of an earlier turn cannot fail in this one. */
  toolFailed(id: string): void {
    if (!this.#calls.delete(id)) return;
    this.toolStats = { ...this.toolStats, failed: this.toolStats.failed + 1 };
  }

  spend(usage: Usage): void {
    this.usage = addUsage(this.usage, usage);
  }
}
