// `DialogueRunner` has the state of a dialogue that outlives one agent process: the open turn, the open questions, and
// whether a process that died or stalled is resumed.
import { closeSync, openSync, statSync } from "node:fs";
import { ActivityWatch } from "./activity.ts";
import { findOwnProcesses, type OwnProcesses } from "./agent-commands.ts";
import type { AgentLine, Dialogue, DialogueTurn, ResumedConversation } from "../dialogue.ts";
import { loadDialogue, type DialogueName } from "../dialogues.ts";
import { droppedMessage } from "../lines/line-splitter.ts";
import { LineTail } from "../lines/line-tail.ts";
import { readEndOf } from "./session-file.ts";
import { paths, type KeeperSpec } from "./session-folder.ts";
import type { SessionRecord } from "./session-record.ts";
import type { ToolAddress } from "../tools/tool-listener.ts";

/** `MAX_RELAUNCHES` per turn. */
const MAX_RELAUNCHES = 1;
/** Per turn, of a process that did not get ready after a relaunch. The next one may start a new conversation. */
const MAX_FAILED_STARTS = 1;
/** `exited` passes the last `ERRORS_BYTES` of stderr to the dialogue. */
const ERRORS_BYTES = 4096;

interface DialogueRunnerOptions {
  folder: string;
  spec: KeeperSpec;
  record: SessionRecord;
  tools: ToolAddress;
  resumed: ResumedConversation | null;
  write: (text: string) => void;
  /** Called once per session, when the first process accepts turns. */
  ready: () => void;
  /** Called if the agent never got ready, so it cannot be used. */
  fail: (error: string) => void;
  /** Called when an interrupted turn has ended. `own` are the processes of the agent itself. */
  stopped: (own: OwnProcesses) => void;
  /** Called if the agent was ready before, but its session cannot continue. */
  lose: () => void;
}

export async function openDialogueRunner(name: DialogueName, options: DialogueRunnerOptions): Promise<DialogueRunner> {
  // `LineTail` opens `raw.log` before the agent writes to it.
  closeSync(openSync(paths(options.folder).raw, "a", 0o600));
  const open = await loadDialogue(name);
  return new DialogueRunner(options, (runner) => {
    const { spec, write } = options;
    const { sessionId, cwd, permissions, subagentDepth, command, model = null } = spec;
    const emit = (line: AgentLine) => runner.emit(line);
    const ready = () => runner.becomeReady();
    const fail = (error: string) => runner.fail(error);
    const { resumed, tools } = options;
    const fixed = { sessionId, cwd, permissions, subagentDepth, model, command };
    return open({ ...fixed, resumed, tools, write, emit, ready, fail });
  });
}

export class DialogueRunner {
  readonly #options: DialogueRunnerOptions;
  readonly #dialogue: Dialogue;
  readonly #tail: LineTail;
  readonly #activity: ActivityWatch;
  #open: DialogueTurn | null = null;
  readonly #asks = new Set<string>();
  #isReady = false;
  /** Like `#isReady`, but of the current process: false again during a relaunch. */
  #isRunning = false;
  /** The turn interrupted last. A new process does not receive it. */
  #stoppedTurn = 0;
  #relaunches = 0;
  #own: OwnProcesses = new Map();
  #wasKilled = false;

  constructor(options: DialogueRunnerOptions, openDialogue: (runner: DialogueRunner) => Dialogue) {
    this.#options = options;
    this.#activity = new ActivityWatch(options.spec.sessionId, performance.now());
    this.#dialogue = openDialogue(this);
    this.#tail = new LineTail(
      paths(options.folder).raw,
      (line) => {
        if (line.trim() !== "") this.#dialogue.receive(line);
      },
      (length) => this.emit({ type: "assistant", text: droppedMessage(length) }),
    );
  }

  /** `isReady` stays true during a relaunch. */
  get isReady(): boolean {
    return this.#isReady;
  }

  begin(): void {
    this.#dialogue.open();
  }

  emit(line: AgentLine): void {
    const isStopped = line.type === "turn_end" && this.#open?.number === this.#stoppedTurn;
    if (line.type === "turn_end") {
      this.#open = null;
      this.#relaunches = 0;
    }
    if (line.type === "ask") this.#asks.add(line.id);
    if (line.type === "ask_cancelled") this.#asks.delete(line.id);
    this.#options.record.emit(line);
    if (isStopped) this.#options.stopped(this.#own);
  }

  /** A process that something killed, or that failed after a relaunch, proves nothing about the agent. */
  fail(error: string): void {
    if (!this.#isReady) {
      if (!this.#wasKilled) this.#options.fail(error);
      return;
    }
    if (this.#open) this.emit({ type: "turn_end", error, cause: "died" });
    this.#options.lose();
  }

  /** After a relaunch, `becomeReady` sends the open turn again unless it was interrupted. */
  becomeReady(): void {
    const isFirst = !this.#isReady;
    this.#isReady = true;
    this.#isRunning = true;
    this.#own = findOwnProcesses(this.#options.spec.sessionId);
    if (this.#open?.number === this.#stoppedTurn) this.emit({ type: "turn_end", error: "the turn was interrupted" });
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

  get canSteer(): boolean {
    return this.#dialogue.steer !== undefined;
  }

  /** Not during a relaunch: the message then waits for the next turn. */
  steer(id: string, text: string): void {
    if (this.#isRunning && this.#open && this.#open.number !== this.#stoppedTurn) this.#dialogue.steer?.(id, text);
  }

  interrupt(turn: number): void {
    this.#stoppedTurn = turn;
    // During a relaunch `becomeReady` ends the turn instead of sending it.
    if (this.#isRunning) this.#dialogue.interrupt();
  }

  /** `askToStop` is false if there is no open turn. */
  askToStop(): boolean {
    if (this.#open) this.#dialogue.interrupt();
    return this.#open !== null;
  }

  /** Returns the number of bytes of `raw.log` that the dialogue has received. */
  read(): number {
    this.#tail.read();
    return this.#tail.offset;
  }

  /** Reads the last output of an exited process. */
  finish(): void {
    this.#tail.finish();
  }

  /** The command that resumes the conversation after its process died in the middle of a turn, or null. */
  takeUp(): string[] | null {
    const most = this.#isRunning ? MAX_RELAUNCHES : MAX_RELAUNCHES + MAX_FAILED_STARTS;
    if (!this.#open || this.#open.number === this.#stoppedTurn || this.#relaunches >= most) return null;
    const command = this.#dialogue.relaunch?.() ?? null;
    if (command === null) return null;
    this.#relaunches += 1;
    this.#isRunning = false;
    return command;
  }

  /** Called when the process has exited by itself and is not relaunched. */
  exited(how: { code: number | null; signal: string | null }): void {
    this.#wasKilled = how.signal !== null;
    const errors = readEndOf(paths(this.#options.folder).errors, ERRORS_BYTES);
    this.#dialogue.exited({ ...how, errors });
  }

  /**
   * Whether the open turn had no activity for `forMs`. An agent with a dialogue reports every step, so one without
   * output and without busy processes has lost its connection. Open questions do not count as a stall, nor does a call
   * that `waits` for the user.
   */
  hasStalled(forMs: number, waits: boolean): boolean {
    const now = performance.now();
    const isSilent = this.#open !== null && this.#asks.size === 0 && !waits;
    const hasStalled = isSilent && this.#activity.look(statSync(paths(this.#options.folder).raw).size, now) >= forMs;
    if (!isSilent || hasStalled) this.#activity.touch(now);
    return hasStalled;
  }
}
