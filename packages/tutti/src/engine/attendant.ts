// The attendant of one session: makes its workspace, opens it, gives it the turns that the log says it has, listens, and
// reports. It decides nothing. Whatever it was doing when the engine died, a new attendant does again from the state of
// the log and the session's folder, and arrives at the same point.
import { keyOfAttempt } from "./attempt-key.ts";
import { judgeTurn } from "./judge-turn.ts";
import type { KnownResults } from "./known-results.ts";
import { ProgressTeller, TOLD_CHARACTERS, type Watched } from "./progress-teller.ts";
import { renderPrompt } from "./prompt.ts";
import type { RunWriter } from "./run-writer.ts";
import type { Subagent } from "./sub-session-part.ts";
import { TurnRecord } from "./turn-record.ts";
import { WorkSaver } from "./work-saver.ts";
import { readProgress } from "../protocol/judge-answer.ts";
import type { History } from "../run/command.ts";
import type { ProgressAnswer } from "../schema/answer.ts";
import { asTuttiError } from "../schema/error.ts";
import { NO_USAGE, type Usage } from "../schema/outcome.ts";
import type { Run } from "../schema/run.ts";
import type { SessionState, Worker } from "../schema/worker.ts";
import type { Session, SessionHost, SessionSignal } from "../session/session.ts";
import type { WorkspaceKey, Workspaces } from "../workspace/workspace.ts";
import type { World } from "../world.ts";

export interface AttendantOptions {
  writer: RunWriter;
  sessionId: string;
  /** Null for the main session. */
  taskId: string | null;
  attempt: number;
  sessions: SessionHost;
  workspaces: Workspaces;
  world: World;
  /** Everything that happened in the session before it was opened here has been judged. */
  onCaughtUp(): void;
  /** Its open turn has used more. */
  onSpent(): void;
  /** What such tasks took before. */
  history(run: Run): History;
  /** What the runs that this one comes from have done. */
  known: KnownResults;
  /** It tells of an agent that it has started itself. */
  onSubagent(told: Subagent): void;
}

/** How many blocks without effect are recorded one by one. */
const TOLD_IGNORED = 20;

export class Attendant {
  readonly sessionId: string;
  readonly taskId: string | null;
  readonly #options: AttendantOptions;
  readonly #key: WorkspaceKey;
  #session: Session | null = null;
  #cwd = "";
  /** What the attempt is about, found when it begins. */
  #workKey: string | null = null;
  #record: TurnRecord;
  #progress: ProgressAnswer | null = null;
  #delivered = 0;
  /** The prompt of the turn that was delivered last, by this engine. */
  #told: { turn: number; text: string } | null = null;
  #answered = new Set<string>();
  #caughtUp = false;
  readonly #teller: ProgressTeller;
  readonly #saver: WorkSaver;
  #heardAt: number;
  /** Null while the session is wanted; then how it is to end. */
  #ending: "close" | "stop" | "leave" | null = null;
  readonly #attending: Promise<void>;

  constructor(options: AttendantOptions) {
    this.#options = options;
    this.#heardAt = options.world.mono();
    this.sessionId = options.sessionId;
    this.taskId = options.taskId;
    this.#key = { runId: options.writer.id, name: options.taskId ?? "main", attempt: options.attempt };
    this.#record = new TurnRecord(this.#run.template.prompts.responseFormat);
    this.#teller = new ProgressTeller({
      world: options.world,
      look: () => this.#watched(),
      tell: (event) => this.#report({ type: "told", event }),
    });
    this.#saver = new WorkSaver({
      world: options.world,
      everyMs: options.taskId === null ? 0 : this.#run.template.config.saveInterval,
      save: () => this.#saveWork(),
    });
    this.#attending = this.#attend();
  }

  /** Of a worker whose turn is open; at its end everything is committed anyway. */
  async #saveWork(): Promise<void> {
    const { taskId, sessionId } = this;
    const state = this.#watched() && this.#state;
    if (taskId === null || !state?.turn || !state.start) return;
    const message = `What ${taskId} of ${this.#run.id} had come to`;
    const commit = await this.#options.workspaces.saveWork(this.#run.cwd, this.#key, state.start, message);
    const data = { id: this.#run.id, sessionId, taskId, commit: commit ?? "" };
    if (commit !== null) await this.#report({ type: "told", event: { type: "workspace:saved", data } });
  }

  #watched(): Watched | null {
    if (!this.#caughtUp || this.#ending || this.#state?.state !== "running") return null;
    return { run: this.#run, worker: this.#worker, record: this.#record, progress: this.#progress };
  }

  /** Until then nobody can say that the session is late: its result may lie there unread. */
  get caughtUp(): boolean {
    return this.#caughtUp;
  }

  /** What the open turn has used so far. */
  get spent(): Usage {
    // Until then it tells of turns whose cost is in the log already.
    return this.#caughtUp ? this.#record.usage : NO_USAGE;
  }

  /** Nobody could hear anything for a while; that is not silence. */
  touch(): void {
    this.#heardAt = this.#options.world.mono();
  }

  /** For how long nothing has been heard of it. */
  get silentMs(): number {
    return this.#options.world.mono() - this.#heardAt;
  }

  get #run(): Run {
    return this.#options.writer.run;
  }

  get #worker(): Worker | null {
    const worker = this.taskId === null ? null : this.#run.workers[this.taskId];
    return worker?.sessionId === this.sessionId ? worker : null;
  }

  /** The session's part of the log's state, or null once another session has taken its place. */
  get #state(): SessionState | null {
    if (this.taskId !== null) return this.#worker?.session ?? null;
    return this.#run.main?.sessionId === this.sessionId ? this.#run.main : null;
  }

  /** Something in the run has changed: there may be a turn to deliver or a question answered. */
  async refresh(): Promise<void> {
    try {
      await this.#passOn();
    } catch (error) {
      await this.#broken(error);
    }
  }

  async #passOn(): Promise<void> {
    const session = this.#session;
    const state = this.#state;
    if (!session || !state || state.state !== "running") return;
    for (const [askId, text] of Object.entries(state.asks)) {
      if (text === null || this.#answered.has(askId)) continue;
      this.#answered.add(askId);
      this.touch();
      await session.answer(askId, text);
    }
    const turn = state.turn;
    if (turn && state.pausedAt !== null) return session.interrupt(turn.number);
    if (!turn || turn.number <= this.#delivered) return;
    this.#delivered = turn.number;
    if (session.wasDelivered(turn.number)) return;
    const { workspaces } = this.#options;
    // What the main session is to merge or check is the work of all, whatever its folder held until now.
    const owed = this.#worker ? this.#worker.owed : this.#run.owed;
    const anew = turn.try === 1 && !owed?.interrupted;
    if ((turn.phase === "aggregation" || turn.phase === "verification") && anew)
      await workspaces.move(this.#run.cwd, this.#key, this.#run.head!);
    const prompt = renderPrompt(this.#run, turn.phase, this.#worker, owed, this.#cwd);
    this.#told = { turn: turn.number, text: prompt.text };
    // A pause may have come in the meantime; then the turn waits for the resume.
    if (this.#state?.turn?.number === turn.number && this.#state.pausedAt !== null) {
      this.#delivered = turn.number - 1;
      return;
    }
    await session.deliver({
      number: turn.number,
      phase: turn.phase,
      text: prompt.text,
      get variables() {
        return prompt.variables;
      },
    });
    if (this.#state?.pausedAt != null) await session.interrupt(turn.number);
  }

  /** Ends the session and takes its workspace away; work that is in it stays reachable. Resolves when that is done. */
  async end(how: "close" | "stop"): Promise<void> {
    this.#ending ??= how;
    if (how === "close") await this.#session?.close();
    await this.#options.sessions.end(this.#run.id, this.sessionId);
    await this.#attending;
    const record = this.#record;
    this.#record = new TurnRecord(this.#run.template.prompts.responseFormat);
    await this.#abandon(record);
    await this.#saver.settled();
    await this.#options.workspaces.remove(this.#run.cwd, this.#key);
  }

  /** What a turn used that nobody will judge any more. */
  async #abandon({ usage, toolStats }: TurnRecord): Promise<void> {
    if (usage.usd + usage.inputTokens + usage.outputTokens === 0) return;
    const { sessionId, taskId } = this;
    await this.#report({ type: "abandoned", sessionId, taskId, usage, toolStats });
  }

  /** Stops listening and leaves the session to its keeper. */
  async leave(): Promise<void> {
    this.#ending = "leave";
    this.#session?.leave();
    await this.#attending;
    await this.#saver.settled();
  }

  async #attend(): Promise<void> {
    try {
      const start = this.#state?.start ?? (await this.#begin());
      if (start === null || !this.#isOpen) return;
      const { path } = await this.#options.workspaces.prepare(this.#run.cwd, this.#key, start);
      this.#cwd = path;
      if (!this.#isOpen) return;
      const { sessions } = this.#options;
      const { taskId, sessionId } = this;
      const { agent, role } = this.#state!;
      this.#session = sessions.open({
        sessionId,
        runId: this.#run.id,
        role,
        taskId,
        attempt: this.#key.attempt,
        agent,
        cwd: this.#cwd,
        permissions: this.#run.template.config.permissions,
        stallTimeout: this.#run.template.config.stallTimeout,
      });
      for await (const signal of this.#session.signals()) await this.#hear(signal, start);
    } catch (error) {
      await this.#broken(error);
    }
  }

  /** What we could not do for the session ends it, with the reason; what the store could not do ends the engine. */
  async #broken(error: unknown): Promise<void> {
    const { code, message } = asTuttiError(error);
    if (this.#ending || !this.#state || this.#state.state === "over") return;
    await this.#report({ type: "unpreparable", sessionId: this.sessionId, code, error: message }).catch(() => {});
  }

  /** Whether the session is still wanted, as far as anybody here knows. */
  get #isOpen(): boolean {
    return this.#ending === null && this.#state !== null && this.#state.state !== "over";
  }

  /** The commit that a new attempt starts from; null if there cannot be one, or if what it is about is done already. */
  async #begin(): Promise<string | null> {
    const { workspaces, known } = this.#options;
    const start = await this.#findStart();
    const worker = this.#worker;
    if (start === null || !worker) return start;
    const run = this.#run;
    if (run.forkedFrom === null) return start;
    const key = await this.#findKey(worker, start);
    const attempt = { run, worker, place: this.#key, start, key };
    const isDone = await known.takeOver(attempt, workspaces, (report) => this.#report(report));
    // What another task has taken in the meantime was not given to this one.
    return isDone && !this.#isOpen ? null : start;
  }

  /** What the attempt is about. Only a fork needs to know it before its session is opened. */
  async #findKey(worker: Worker, start: string): Promise<string> {
    const { cwd } = this.#run;
    this.#workKey ??= keyOfAttempt(this.#run, worker, await this.#options.workspaces.treeOf(cwd, start));
    return this.#workKey;
  }

  async #findStart(): Promise<string | null> {
    const run = this.#run;
    // A dependency that was left out, or that failed and may be missing, has nothing to build on.
    const needs = this.#worker!.task.dependencies.flatMap((id) => {
      const worker = run.workers[id];
      return worker?.status === "completed" ? [worker.commit!] : [];
    });
    const message = `What ${this.taskId} of ${run.id} builds on`;
    const merge = await this.#options.workspaces.combine(run.cwd, run.base!, needs, message);
    if (merge.ok) return merge.commit;
    const error = `the work of its dependencies collides in ${merge.files.join(", ")}`;
    await this.#report({ type: "unpreparable", sessionId: this.sessionId, code: "dependencies_collide", error });
    return null;
  }

  async #hear(signal: SessionSignal, start: string): Promise<void> {
    const { sessionId } = this;
    this.#heardAt = this.#options.world.mono();
    switch (signal.type) {
      case "ready":
        await this.#ready(start);
        return this.refresh();
      case "unstartable": {
        const error = `the agent ${this.#state?.agent ?? this.#run.agent} could not be started: ${signal.error}`;
        return this.#report({ type: "unpreparable", sessionId, code: "agent_not_startable", error });
      }
      case "text": {
        const before = this.#progress;
        for (const block of this.#record.text(signal.text, signal.complete)) {
          this.#progress = readProgress(block, this.taskId ?? undefined) ?? this.#progress;
        }
        return this.#teller.changed(this.#progress !== before);
      }
      case "agent":
      case "partial":
      case "sent":
      case "stalled":
      case "interrupted":
        return;
      case "subagent":
        return this.#options.onSubagent(signal);
      case "tool":
        this.#record.tool(signal.name);
        this.#saver.worked();
        return this.#teller.changed(false);
      case "usage":
        this.#record.spend(signal.usage);
        return this.#caughtUp ? this.#options.onSpent() : undefined;
      case "ask": {
        const { type: _, ...asked } = signal;
        await this.#report({ type: "asked", sessionId, itemId: this.#newItemId(), ...asked });
        return this.refresh();
      }
      case "trouble": {
        const { cause, detail, retryAfterMs } = signal;
        // What it told before this engine came is over.
        if (!this.#caughtUp) return;
        return this.#report({ type: "troubled", sessionId, cause, detail, retryAfterMs });
      }
      case "askCancelled":
        return this.#report({ type: "unasked", sessionId, askId: signal.askId });
      case "turnOver":
        await this.#turnOver(signal);
        return this.refresh();
      case "caughtUp":
        this.#caughtUp = true;
        this.#options.onCaughtUp();
        return;
      case "gone":
        if (this.#state?.state !== "over" && !this.#ending) {
          await this.#report({ type: "lost", sessionId, reason: signal.reason, counted: !signal.deliberate });
        }
    }
  }

  async #ready(start: string): Promise<void> {
    const worker = this.#worker;
    // An adopted session tells again that it is ready; what it is about stands in the log.
    const key = worker?.status === "spawning" ? { key: await this.#findKey(worker, start) } : {};
    await this.#report({ type: "ready", sessionId: this.sessionId, start, ...key });
  }

  async #turnOver({ turn, ending }: Extract<SessionSignal, { type: "turnOver" }>): Promise<void> {
    const record = this.#record;
    this.#record = new TurnRecord(this.#run.template.prompts.responseFormat);
    const state = this.#state;
    // Judged before the engine was started anew, or overtaken by a timeout or a cancellation.
    if (state?.turn?.number !== turn) return this.#caughtUp ? this.#abandon(record) : undefined;
    const { writer, workspaces } = this.#options;
    // A save that is still under way would write its `-saved` ref after the snapshot has deleted it.
    await this.#saver.settled();
    const judged = await judgeTurn({
      run: this.#run,
      worker: this.#worker,
      state,
      key: this.#key,
      record,
      ending,
      workspaces,
      cwd: this.#cwd,
      prompt: this.#told?.turn === turn ? this.#told.text : null,
      itemId: this.#newItemId(),
      history: state.turn.phase === "taskPlanning" ? this.#options.history(this.#run) : null,
    });
    for (const { phase, reason } of judged.ignored.slice(0, TOLD_IGNORED)) {
      const data = {
        id: writer.id,
        sessionId: this.sessionId,
        taskId: this.taskId,
        phase: phase.slice(0, 100),
        reason: reason.slice(0, TOLD_CHARACTERS),
      };
      await this.#report({ type: "told", event: { type: "protocol:ignored", data } });
    }
    await this.#report({ type: "turnOver", sessionId: this.sessionId, turn, over: judged.over });
  }

  #newItemId(): string {
    return `item_${this.#options.world.id(10)}`;
  }

  async #report(report: Parameters<RunWriter["submit"]>[0]): Promise<void> {
    await this.#options.writer.submit(report);
  }
}
