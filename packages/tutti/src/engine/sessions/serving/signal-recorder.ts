// `SignalRecorder` collects the signals of the open turn for its judgement, and publishes progress and unfinished work
// meanwhile.
import { ProgressReporter, MAX_CHARACTERS, type Watched } from "../progress-reporter.ts";
import { readMessages } from "../read-messages.ts";
import { TurnRecord } from "../turn-record.ts";
import { WorkSaver } from "../work-saver.ts";
import type { ServedSession } from "./served-session.ts";
import { readProgress } from "../../../protocol/response/judge-answer.ts";
import type { SubagentReport } from "../../../run/command.ts";
import type { ProgressAnswer } from "../../../schema/answer.ts";
import type { SessionSignal } from "../../../session/session.ts";
import { TASK_READ } from "../../../session/tools/tool-desk.ts";

/** In characters. A long text is read piece by piece, so that other work gets its turn in between. */
const PIECE = 32 * 1024;
/** Limits of an id and a text of a sub-agent in the log; the transcript has the full text. */
const MAX_ID_CHARACTERS = 200;
const MAX_TEXT_CHARACTERS = 50_000;

type SignalOf<Type extends SessionSignal["type"]> = Extract<SessionSignal, { type: Type }>;
export type RecordedSignal = SignalOf<
  "text" | "report" | "sent" | "toolResult" | "subagent" | "tool" | "toolFailed" | "usage"
>;

interface SignalRecorderOptions {
  /** Whether the signals from before `open` have been judged. */
  isCaughtUp: () => boolean;
  lastPrompt: () => string | null;
}

export class SignalRecorder {
  readonly #served: ServedSession;
  readonly #options: SignalRecorderOptions;
  #record: TurnRecord;
  #progress: ProgressAnswer | null = null;
  /** The turn that the last signal belongs to. It is an earlier one while old signals are replayed. */
  #readTurn = 0;
  readonly #progressReporter: ProgressReporter;
  readonly #saver: WorkSaver;

  constructor(served: ServedSession, options: SignalRecorderOptions) {
    this.#served = served;
    this.#options = options;
    this.#record = this.#newRecord();
    const { world } = served.options;
    this.#progressReporter = new ProgressReporter({
      world,
      look: () => this.#watched(),
      record: (event) => served.report({ type: "record", event }),
    });
    this.#saver = new WorkSaver({
      world,
      everyMs: served.taskId === null ? 0 : served.run.template.config.saveInterval,
      save: () => this.#saveWork(),
    });
  }

  get usage(): TurnRecord["usage"] {
    return this.#record.usage;
  }

  #newRecord(): TurnRecord {
    const { prompts, roles } = this.#served.run.template;
    return new TurnRecord(prompts.responseFormat, roles !== undefined);
  }

  /** Returns the record of the turn that is over, and begins the next one. */
  next(): TurnRecord {
    const record = this.#record;
    this.#record = this.#newRecord();
    return record;
  }

  /** A worker's progress is about its task, and outlives a turn. */
  forgetProgress(): void {
    if (this.#served.taskId === null) this.#progress = null;
  }

  /** Resolves when no save is under way. */
  async saved(): Promise<void> {
    await this.#saver.settled();
  }

  /** Not async: most signals of a session only change the record. */
  read(signal: RecordedSignal): Promise<void> | void {
    switch (signal.type) {
      case "text":
        return this.#readText(signal);
      case "report":
        return this.#readReport(signal);
      case "sent":
        this.#readTurn = signal.turn;
        return;
      case "toolResult":
        this.#record.noteCharacters(signal.text.length);
        return;
      case "subagent":
        return this.#readSubagent(signal);
      case "tool":
        this.#record.tool(signal.name, signal.id);
        // Only the context of the main session counts, and a worker may call a tool very often.
        if (this.#served.taskId === null) this.#record.noteCharacters(JSON.stringify(signal.input ?? null).length);
        this.#saver.worked();
        return this.#progressReporter.changed(false);
      case "toolFailed":
        this.#record.toolFailed(signal.id);
        return this.#progressReporter.changed(false);
      case "usage":
        this.#record.spend(signal.usage, signal.context);
        if (this.#options.isCaughtUp()) this.#served.options.onSpent();
    }
  }

  async #readText({ text, complete }: SignalOf<"text">): Promise<void> {
    const previous = this.#progress;
    for (let from = 0; from === 0 || from < text.length; from += PIECE) {
      if (from > 0) await this.#served.options.world.sleep(0);
      const isEnd = complete && from + PIECE >= text.length;
      for (const block of this.#record.text(text.slice(from, from + PIECE), isEnd))
        this.#progress = readProgress(block, this.#served.taskId ?? undefined) ?? this.#progress;
    }
    if (complete) await this.#noteAcknowledgement(text);
    return this.#progressReporter.changed(this.#progress !== previous);
  }

  async #readReport({ phase, data }: SignalOf<"report">): Promise<void> {
    if (phase === TASK_READ) await this.#acknowledge();
    if (phase !== "progress" && phase !== "heartbeat") return this.#record.report(phase, data);
    // The tool has validated the data. A main session has no task, and shows only its action.
    if (phase === "progress") this.#progress = data as ProgressAnswer;
    return this.#progressReporter.changed(true);
  }

  async #readSubagent(signal: SignalOf<"subagent">): Promise<void> {
    const { sessionId, taskId, options } = this.#served;
    const { id, phase, text, toolId, parent, status = "completed" } = signal;
    const keyOf = (subagentId: string): string => `${sessionId}/${subagentId.slice(0, MAX_ID_CHARACTERS)}`;
    const subagent: SubagentReport = {
      childSessionId: keyOf(id),
      phase,
      text: text?.slice(0, MAX_TEXT_CHARACTERS) ?? null,
      taskToolId: toolId?.slice(0, MAX_ID_CHARACTERS) ?? null,
      parentSessionId: parent === undefined ? null : keyOf(parent),
      status,
    };
    options.onSubagent(subagent);
    const shown = text === null ? null : text.slice(0, MAX_CHARACTERS);
    await this.#served.report({ type: "subagent", sessionId, taskId, subagent: { ...subagent, text: shown } });
  }

  /** An acknowledgement counts as it arrives; all other messages are read at the end of the turn. */
  async #noteAcknowledgement(text: string): Promise<void> {
    const { run, worker } = this.#served;
    if (!worker || !text.includes("TASK_ACKNOWLEDG")) return;
    const messages = readMessages(run, worker, this.#record, this.#options.lastPrompt() ?? "")?.messages ?? [];
    const isAcknowledged = messages.some(({ type, reasons }) => type === "TASK_ACKNOWLEDGMENT" && reasons.length === 0);
    if (isAcknowledged) await this.#acknowledge();
  }

  /** A replayed acknowledgement of an earlier turn (`#readTurn`) is not about the newest message. */
  async #acknowledge(): Promise<void> {
    const { sessionId, state } = this.#served;
    if (this.#readTurn === state?.turn?.number) await this.#served.report({ type: "acknowledged", sessionId });
  }

  #watched(): Watched | null {
    const { ending, state, run, worker } = this.#served;
    if (!this.#options.isCaughtUp() || ending || state?.state !== "running") return null;
    return { run, worker, record: this.#record, progress: this.#progress };
  }

  /** Saves the work of an open turn. At the end of a turn, `judgeTurn` commits everything anyway. */
  async #saveWork(): Promise<void> {
    const { sessionId, taskId, key, run, options } = this.#served;
    const state = this.#watched() && this.#served.state;
    if (taskId === null || !state?.turn || !state.start) return;
    const message = `Save unfinished work of ${taskId} of ${run.id}`;
    const commit = await options.workspaces.saveWork(run.cwd, key, state.start, message);
    if (commit === null) return;
    const data = { id: run.id, sessionId, taskId, commit };
    await this.#served.report({ type: "record", event: { type: "workspace:saved", data } });
    await options.radar.probe(taskId, sessionId, state.start, commit);
  }
}
