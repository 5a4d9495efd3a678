import { countTool } from "./tool-stats.ts";
import { ResponseScanner, type Delimiters, type ScannedBlock } from "../../protocol/response/response-scanner.ts";
import { wordsOutsideBlocks } from "../../protocol/response/words-outside-blocks.ts";
import { isOwnTool } from "../../session/tools/own-tool.ts";
import { TASK_READ } from "../../session/tools/tool-desk.ts";
import { addUsage, NO_USAGE, type ContextSize, type Usage } from "../../schema/outcome.ts";
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
/** Short texts are joined: the time of `shift` grows with the length of an array. */
const JOINED_LENGTH = 64 * 1024;
const STARTS_AN_AGENT = new Set(["Task", "Agent"]);
const IS_A_MESSAGE = new Set(["new_task", "attempt_completion"]);
const ESCALATION = "BLOCKER_ESCALATION";
const MAX_CALLS = 50;
const MAX_REPORTS = 5;
const ACTS_AT_ONCE = new Set(["progress", "heartbeat"]);

export class TurnRecord {
  /** Blocks that may be the answer; those in `ACTS_AT_ONCE` take effect on arrival and are not kept. */
  readonly blocks: ScannedBlock[] = [];
  lastBlock: ScannedBlock | null = null;
  /** The `blocks` that the agent sent with tools. For a role with the protocol `tools` only these count. */
  readonly reports: ScannedBlock[] = [];
  /** Messages of document 002 (`IS_A_MESSAGE`) that the agent sent with tools. */
  readonly calls: Record<string, unknown>[] = [];
  /** The last `ESCALATION` that the agent sent with a tool. */
  blocker: Record<string, unknown> | null = null;
  /** Whether the agent has read the message to it with a tool. */
  hasRead = false;
  toolStats: ToolStats = NO_TOOLS;
  usage: Usage = NO_USAGE;
  /** As the agent reported it last in this turn. */
  context: ContextSize | null = null;
  /** The length of the agent's texts, calls and results in this turn, for an estimate of `context`. */
  characters = 0;
  #blocksLength = 0;
  #said = "";
  /** The end of the last whole message that is not empty. */
  lastMessage = "";
  #message = "";
  subagents = 0;
  /** Ids of calls that have not failed. */
  readonly #calls = new Set<string>();
  /** Made for the first text: a session replaces its record when a turn ends, and when it ends itself. */
  #scanner: ResponseScanner | null = null;
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
  }

  /** Returns the blocks that `text` completes. A block cannot span two messages. */
  text(text: string, complete: boolean): ScannedBlock[] {
    // The next message starts on a line of its own.
    this.#keepText(complete ? `${text}\n` : text);
    this.noteCharacters(text.length);
    // Reuse `#scanner`: a session may send a million messages.
    this.#scanner ??= new ResponseScanner({ ...this.#delimiters, ...BLOCK_LIMITS });
    const found = this.#scanner.push(text);
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
    const last = this.#texts.length - 1;
    if (last >= 0 && this.#texts[last]!.length + text.length <= JOINED_LENGTH) this.#texts[last] += text;
    else this.#texts.push(text);
    this.#textLength += text.length;
    if (this.#textLength > MAX_TEXT_LENGTH) this.isCut = true;
    while (this.#textLength - this.#texts[0]!.length >= MAX_TEXT_LENGTH)
      this.#textLength -= this.#texts.shift()!.length;
  }

  /** Only the end if the turn's text is longer than `MAX_TEXT_LENGTH`. Empty without `keepsText`. */
  get wholeText(): string {
    return this.#texts.join("").slice(-MAX_TEXT_LENGTH);
  }

  /** An answer by a tool of Tutti counts like a block, and a message of document 002 like one in the text. */
  report(phase: string, data: Record<string, unknown>): void {
    if (phase === TASK_READ) return void (this.hasRead = true);
    if (phase === ESCALATION) return void (this.blocker = data);
    if (IS_A_MESSAGE.has(phase)) return void (this.calls.length < MAX_CALLS && this.calls.push(data));
    const block: ScannedBlock = { ok: true, phase, data, raw: JSON.stringify(data), repairs: [] };
    this.#keep(block);
    this.reports.splice(0, this.reports.length, ...this.reports.slice(1 - MAX_REPORTS), block);
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

  /** `context` is the size of the conversation, if the agent reports it. */
  spend(usage: Usage, context?: ContextSize): void {
    this.usage = addUsage(this.usage, usage);
    this.context = context ?? this.context;
  }

  /** Counts what the agent has read or written besides its text. */
  noteCharacters(count: number): void {
    this.characters += count;
  }
}
