// The keeper's side of a dialogue, over all processes that carry it on: which turn is open, whether the agent may be
// spoken to, and what follows when its process ends or nothing of it moves any more.
import { closeSync, openSync, statSync } from "node:fs";
import { ActivityWatch } from "./activity.ts";
import type { AgentLine, Dialogue, DialogueTurn } from "./dialogue.ts";
import { loadDialogue, type DialogueName } from "./dialogues.ts";
import { LineTail } from "./line-tail.ts";
import { readEndOf } from "./session-file.ts";
import { paths, type KeeperSpec } from "./session-folder.ts";
import type { SessionRecord } from "./session-record.ts";

/** How often a conversation whose process died is taken up again. */
const MAX_RELAUNCHES = 1;
/** How much of what the agent wrote to stderr is looked at when it has ended. */
const ERRORS_BYTES = 4096;

export interface ConversationOptions {
  folder: string;
  spec: KeeperSpec;
  record: SessionRecord;
  write: (text: string) => void;
  /** The first process has come so far that it can take a turn. */
  ready: () => void;
  fail: (error: string) => void;
}

export async function openConversation(name: DialogueName, options: ConversationOptions): Promise<Conversation> {
  // The agent writes to it from its first moment on.
  closeSync(openSync(paths(options.folder).raw, "a", 0o600));
  const open = await loadDialogue(name);
  return new Conversation(options, (conversation) => {
    const { spec, write, fail } = options;
    const { sessionId, cwd, permissions, command } = spec;
    const tell = (line: AgentLine) => conversation.tell(line);
    const ready = () => conversation.becomeReady();
    return open({ sessionId, cwd, permissions, command, write, tell, ready, fail });
  });
}

export class Conversation {
  readonly #options: ConversationOptions;
  readonly #dialogue: Dialogue;
  readonly #tail: LineTail;
  readonly #activity: ActivityWatch;
  /** The turn that was begun and has not ended. */
  #open: DialogueTurn | null = null;
  readonly #asks = new Set<string>();
  #isReady = false;
  /** Whether the process that runs now has come so far. */
  #isRunning = false;
  /** The turn that was asked to stop last: it is not given to a new process. */
  #stoppedTurn = 0;
  #relaunches = 0;

  constructor(options: ConversationOptions, openDialogue: (conversation: Conversation) => Dialogue) {
    this.#options = options;
    this.#activity = new ActivityWatch(options.spec.sessionId, performance.now());
    this.#dialogue = openDialogue(this);
    this.#tail = new LineTail(paths(options.folder).raw, (line) => {
      if (line.trim() !== "") this.#dialogue.hear(line);
    });
  }

  /** Whether it ever could take a turn. */
  get isReady(): boolean {
    return this.#isReady;
  }

  /** A process is there to speak with. */
  begin(): void {
    this.#dialogue.open();
  }

  tell(line: AgentLine): void {
    if (line.type === "turn_end") this.#open = null;
    if (line.type === "ask") this.#asks.add(line.id);
    if (line.type === "ask_cancelled") this.#asks.delete(line.id);
    this.#options.record.tell(line);
  }

  /** Once for the session; after a relaunch the turn that was cut off is given again, unless it was to stop anyway. */
  becomeReady(): void {
    const isFirst = !this.#isReady;
    this.#isReady = true;
    this.#isRunning = true;
    if (this.#open?.number === this.#stoppedTurn) this.tell({ type: "turn_end", error: "the turn was interrupted" });
    if (this.#open) this.#dialogue.turn(this.#open);
    if (isFirst) this.#options.ready();
  }

  turn(turn: DialogueTurn): void {
    this.#open = turn;
    this.#dialogue.turn(turn);
  }

  answer(askId: string, text: string): void {
    this.#asks.delete(askId);
    this.#dialogue.answer(askId, text);
  }

  interrupt(turn: number): void {
    this.#stoppedTurn = turn;
    // A new process is told nothing of a turn that was to stop before it came.
    if (this.#isRunning) this.#dialogue.interrupt();
  }

  /** Asks the open turn to stop; says whether there is one. */
  askToStop(): boolean {
    if (this.#open) this.#dialogue.interrupt();
    return this.#open !== null;
  }

  /** Hears what the agent has written by now. */
  read(): void {
    this.#tail.read();
  }

  /** Hears the last that a process wrote which has ended. */
  finish(): void {
    this.#tail.finish();
  }

  /** The command with which a conversation that was cut off in the middle of a turn is taken up again, or null. */
  takeUp(): string[] | null {
    if (!this.#open || this.#open.number === this.#stoppedTurn || this.#relaunches >= MAX_RELAUNCHES) return null;
    const command = this.#dialogue.relaunch?.() ?? null;
    if (command === null) return null;
    this.#relaunches += 1;
    this.#isRunning = false;
    return command;
  }

  /** Its process has ended by itself, and no other follows. */
  exited(how: { code: number | null; signal: string | null }): void {
    const errors = readEndOf(paths(this.#options.folder).errors, ERRORS_BYTES);
    this.#dialogue.exited({ ...how, errors });
  }

  /**
   * Whether nothing of it has moved for so long. An agent that shows every step and shows none, while nothing of it is
   * at work, has lost its connection.
   */
  hasStalled(forMs: number): boolean {
    const now = performance.now();
    const isSilent = this.#open !== null && this.#asks.size === 0;
    const hasStalled = isSilent && this.#activity.look(statSync(paths(this.#options.folder).raw).size, now) >= forMs;
    if (!isSilent || hasStalled) this.#activity.touch(now);
    return hasStalled;
  }
}
