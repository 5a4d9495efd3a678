// Serves one session: prepares its workspace, opens it, delivers the turns that the log contains, and reports its
// signals. A runner decides nothing. After a crash, a new runner repeats the work from the log and the session's
// folder and reaches the same point.
import { keyOfAttempt } from "./attempt-key.ts";
import { commitOfWork, judgeTurn } from "./judge-turn.ts";
import type { KnownResults } from "../copies/known-results.ts";
import type { ConflictRadar } from "../merging/conflict-radar.ts";
import { FAVOURED } from "../merging/merge-work.ts";
import { reportUsedNames, type NameFinder } from "../merging/report-used-names.ts";
import { OutsideSession } from "../mailboxes/outside-session.ts";
import type { TeamMailbox } from "../mailboxes/run-mailbox.ts";
import { LazyAbort } from "../lazy-abort.ts";
import { ProgressReporter, MAX_CHARACTERS, type Watched } from "./progress-reporter.ts";
import { prepareWorkspace } from "./prepare-workspace.ts";
import { renderPrompt } from "./prompt.ts";
import { sandboxOf } from "../choose-sandbox.ts";
import { commandsToCheck, runChecks, type CheckRunner } from "./run-checks.ts";
import type { RunWriter } from "../run-writer.ts";
import type { RepositoryWatch } from "./repository-watch.ts";
import { readMessages } from "./read-messages.ts";
import { TurnRecord } from "./turn-record.ts";
import { sessionSpec } from "../session-spec.ts";
import type { WarmStart } from "../warm-start.ts";
import { WorkSaver } from "./work-saver.ts";
import { workerOf } from "../../run/lookup.ts";
import { isRepairing } from "../../run/rules/collisions.ts";
import { isPlanningAgain } from "../../run/team/cycle.ts";
import { dutyOf } from "../../run/team/lead-duty.ts";
import { leadOfRun, messageTo, protocolOf } from "../../run/team/team.ts";
import { readProgress } from "../../protocol/response/judge-answer.ts";
import type { CutOff, History, SubagentReport } from "../../run/command.ts";
import type { ProgressAnswer } from "../../schema/answer.ts";
import { asTuttiError, isEnvironmentCode, TuttiError } from "../../schema/error.ts";
import { NO_USAGE, type Usage } from "../../schema/outcome.ts";
import type { Run } from "../../schema/run.ts";
import { OUTSIDE, type TeamRole } from "../../schema/team/roles.ts";
import type { SessionState, Worker } from "../../schema/worker.ts";
import type { Session, SessionHost, SessionSignal, SessionSpec } from "../../session/session.ts";
import { TASK_READ } from "../../session/tools/tool-desk.ts";
import type { WorkspaceKey, Workspaces } from "../../workspace/workspace.ts";
import type { World } from "../../world.ts";

export interface SessionRunnerOptions {
  writer: RunWriter;
  sessionId: string;
  /** Null for the main session. */
  taskId: string | null;
  attempt: number;
  sessions: SessionHost;
  workspaces: Workspaces;
  world: World;
  /** Shared by all sessions of the run. */
  watch: RepositoryWatch;
  radar: ConflictRadar;
  warmStart: WarmStart;
  /** Called when every signal from before `open` has been judged. */
  onCaughtUp(): void;
  onSpent(): void;
  /** Called when the machine does not allow the session's work for now. The runner does nothing more. */
  onEnvironment(error: TuttiError): void;
  /** Durations and costs of earlier tasks, for the estimate of a plan. */
  history(run: Run): History;
  /** Results of the runs that this one was forked from. */
  known: KnownResults;
  /** Puts the secrets of the user into a text for the agent. */
  openSecrets: <T>(value: T) => T;
  checks: CheckRunner;
  names: NameFinder | null;
  /** The mailbox of the run; null if no role works on it. */
  mailbox: TeamMailbox | null;
  /** Called when the agent starts or ends a sub-agent of its own. */
  onSubagent(subagent: SubagentReport): void;
}

/** In characters. A long text is read piece by piece, so that other work gets its turn in between. */
const PIECE = 32 * 1024;
/** Limits of an id and a text of a sub-agent in the log; the transcript has the full text. */
const MAX_ID_CHARACTERS = 200;
const MAX_TEXT_CHARACTERS = 50_000;
/** Limit of `protocol:ignored` events per turn. */
const MAX_IGNORED_EVENTS = 20;
const UNCONCERNED = Promise.resolve();
/** Without a reason, `abort` creates an exception with a stack trace, for every session that ends. */
const ENDED = "the session has ended";

export class SessionRunner {
  readonly sessionId: string;
  readonly taskId: string | null;
  readonly #options: SessionRunnerOptions;
  readonly #key: WorkspaceKey;
  #session: Session | null = null;
  #cwd = "";
  /** Whether the workspace may have only a part of the files. */
  #isSparse = false;
  /** The attempt's work key, computed by `#findKey`. */
  #workKey: string | null = null;
  #record: TurnRecord;
  #progress: ProgressAnswer | null = null;
  #delivered = 0;
  /** The turn that the agent works on; null between turns. */
  #openTurn: number | null = null;
  /** The turn that the last signal belongs to. It is an earlier one while old signals are replayed. */
  #readTurn = 0;
  /** The turn that this engine delivered last, with its prompt and the number of messages when it was made. */
  #lastPrompt: { turn: number; text: string; messages: number } | null = null;
  #answered = new Set<string>();
  /** Messages that were passed on during a turn, by their position in `run.messages`. */
  readonly #passedOn = new Set<number>();
  #canSteer = false;
  #caughtUp = false;
  /** Since when the session has been suspended; null if it is not. */
  #suspendedAt: number | null = null;
  readonly #progressReporter: ProgressReporter;
  readonly #saver: WorkSaver;
  #lastSignalAt: number;
  /** Null while the session is wanted. */
  #ending: "close" | "stop" | "leave" | null = null;
  /** True from the preparation or the start of a turn to its end. */
  #isWatching = false;
  /** Ends the set-up and verification commands when the session ends. */
  readonly #checksEnd = new LazyAbort(ENDED);
  readonly #served: Promise<void>;
  readonly #started = Promise.withResolvers<void>();

  constructor(options: SessionRunnerOptions) {
    this.#options = options;
    this.#lastSignalAt = options.world.mono();
    this.sessionId = options.sessionId;
    this.taskId = options.taskId;
    const { writer, taskId, attempt, sessionId } = options;
    this.#key = { runId: writer.id, name: taskId ?? "main", attempt, sessionId };
    this.#record = this.#newRecord();
    this.#progressReporter = new ProgressReporter({
      world: options.world,
      look: () => this.#watched(),
      record: (event) => this.#report({ type: "record", event }),
    });
    this.#saver = new WorkSaver({
      world: options.world,
      everyMs: options.taskId === null ? 0 : this.#run.template.config.saveInterval,
      save: () => this.#saveWork(),
    });
    this.#served = this.#serve().finally(this.#started.resolve);
  }

  /** Resolves when the session has a workspace and a process, or will not get them. */
  get started(): Promise<void> {
    return this.#started.promise;
  }

  /** Saves the work of an open turn. At the end of a turn, `judgeTurn` commits everything anyway. */
  async #saveWork(): Promise<void> {
    const { taskId, sessionId } = this;
    const state = this.#watched() && this.#state;
    if (taskId === null || !state?.turn || !state.start) return;
    const message = `Save unfinished work of ${taskId} of ${this.#run.id}`;
    const commit = await this.#options.workspaces.saveWork(this.#run.cwd, this.#key, state.start, message);
    const data = { id: this.#run.id, sessionId, taskId, commit: commit ?? "" };
    if (commit === null) return;
    await this.#report({ type: "record", event: { type: "workspace:saved", data } });
    await this.#options.radar.probe(taskId, sessionId, state.start, commit);
  }

  #watched(): Watched | null {
    if (!this.#caughtUp || this.#ending || this.#state?.state !== "running") return null;
    return { run: this.#run, worker: this.#worker, record: this.#record, progress: this.#progress };
  }

  #newRecord(): TurnRecord {
    const { prompts, roles } = this.#run.template;
    return new TurnRecord(prompts.responseFormat, roles !== undefined);
  }

  /** While `caughtUp` is false the session cannot time out: its result may be unread. */
  get caughtUp(): boolean {
    const turn = this.#state?.turn?.number;
    return this.#caughtUp && (turn === undefined || this.#session?.hasLooked?.(turn) !== false);
  }

  get spent(): Usage {
    // Before `#caughtUp` the record contains turns that the log has counted already.
    return this.#caughtUp ? this.#record.usage : NO_USAGE;
  }

  /** Restarts the idle time, for example after a suspend. */
  touch(): void {
    this.#lastSignalAt = this.#options.world.mono();
  }

  /** Milliseconds since the last signal. */
  get silentMs(): number {
    return this.#options.world.mono() - this.#lastSignalAt;
  }

  get #run(): Run {
    return this.#options.writer.run;
  }

  get #worker(): Worker | null {
    const worker = this.taskId === null ? undefined : workerOf(this.#run, this.taskId);
    return worker?.sessionId === this.sessionId ? worker : null;
  }

  /** Null for the main session. */
  get #protocol(): TeamRole["protocol"] | null {
    return this.#worker && protocolOf(this.#run, this.#worker.task);
  }

  /** Whether the role of this session works on the mailbox. */
  get #hasMail(): boolean {
    return this.#protocol === "mailbox";
  }

  /** Null once another session has replaced this one. */
  get #state(): SessionState | null {
    if (this.taskId !== null) return this.#worker?.session ?? null;
    return this.#run.main?.sessionId === this.sessionId ? this.#run.main : null;
  }

  /** Called after every change of the run; delivers a new turn or the answer to a question. */
  refresh(): Promise<void> {
    return this.#isConcerned ? this.#passOn().catch((error: unknown) => this.#broken(error)) : UNCONCERNED;
  }

  /** Whether `#passOn` may have something to do. Most changes of a run are about other sessions. */
  get #isConcerned(): boolean {
    const state = this.#session && this.#state;
    if (state?.state !== "running") return false;
    const { turn, pausedAt, asks } = state;
    if (this.#suspendedAt !== null || Object.keys(asks).length > 0) return true;
    if (turn === null) return false;
    return turn.number > this.#delivered || pausedAt !== null || this.#run.messages.length > 0;
  }

  async #passOn(): Promise<void> {
    const session = this.#session;
    const state = this.#state;
    if (!session || !state || state.state !== "running") return;
    if (this.#suspendedAt !== null) return this.#revive(session, state);
    // Whether the session is suspended is known only when it is `#caughtUp`.
    for (const [askId, text] of this.#caughtUp ? Object.entries(state.asks) : []) {
      if (text === null || this.#answered.has(askId)) continue;
      this.#answered.add(askId);
      this.touch();
      await session.answer(askId, this.#options.openSecrets(text));
    }
    const turn = state.turn;
    if (turn && state.pausedAt !== null) return session.interrupt(turn.number);
    if (turn && turn.number <= this.#delivered) return this.#steer(session, turn.number);
    if (!turn) return;
    this.#delivered = turn.number;
    this.#openTurn = turn.number;
    // Not awaited: a turn must be delivered before a pause can interrupt it. `#serve` awaits it for the first turn.
    this.#startWatching().catch(() => {});
    if (session.wasDelivered(turn.number)) return;
    const { workspaces } = this.#options;
    // Aggregation and verification work on the accepted work of all tasks, so `move` resets the folder to the run's
    // `head`.
    const owed = this.#worker ? this.#worker.owed : this.#run.owed;
    const isNewTurn = turn.try === 1 && !owed?.interrupted;
    const seesWork = turn.phase === "aggregation" || turn.phase === "verification" || isPlanningAgain(this.#run);
    if (this.taskId === null && turn.phase !== "workerExecution" && seesWork && isNewTurn)
      await workspaces.move(this.#run.cwd, this.#key, this.#run.head!);
    if (turn.phase === "aggregation" && isNewTurn && !isRepairing(this.#run)) {
      await reportUsedNames(this.#options, this.#checksEnd.signal);
      if (!this.#isOpen) return;
    }
    if (turn.phase === "verification" && isNewTurn && !(await this.#check(this.#run.head!))) return;
    // The lead of a team sees the work that it judges.
    const submitted = this.taskId === null && turn.phase === "workerExecution" ? dutyOf(this.#run)?.awaits.work : null;
    if (submitted && isNewTurn) await workspaces.move(this.#run.cwd, this.#key, submitted.commit);
    if (this.#worker?.duty && isNewTurn) await this.#takeReturned(this.#worker);
    const prompt = renderPrompt(this.#run, turn.phase, this.#worker, owed, this.#cwd, this.#isSparse);
    this.#lastPrompt = { turn: turn.number, text: prompt.text, messages: this.#run.messages.length };
    // The run may have been paused during `move`; then the turn waits for the resume.
    if (this.#state?.turn?.number === turn.number && this.#state.pausedAt !== null) {
      this.#delivered = turn.number - 1;
      return;
    }
    if (this.#hasMail) await this.#options.mailbox!.put(this.#run, this.#worker!);
    const { openSecrets } = this.#options;
    const message = this.#protocol === "tools" ? messageTo(this.#run, this.sessionId) : null;
    await session.deliver({
      number: turn.number,
      phase: turn.phase,
      text: openSecrets(prompt.text),
      get variables() {
        return openSecrets(prompt.variables);
      },
      ...(message ? { message: openSecrets(message.body) } : {}),
      ...(this.#worker ? { commit: commitOfWork(this.#run, this.#worker) } : {}),
    });
    if (this.#state?.pausedAt != null) await session.interrupt(turn.number);
    else await this.#steer(session, turn.number);
  }

  /** A session that delegated a task continues with the work of that task in its folder. */
  async #takeReturned({ duty, session }: Worker): Promise<void> {
    const { workspaces } = this.#options;
    const { cwd, id, workers, template } = this.#run;
    const commit = workers[duty!.taskId]?.awaits?.work?.commit;
    if (commit === undefined) return;
    const own = await workspaces.snapshot(cwd, this.#key, session.start!, `Work of ${this.taskId} so far`);
    const favour = FAVOURED[template.phases.aggregation.conflictResolution];
    const message = `Add the result of ${duty!.taskId} to ${this.taskId} of ${id}`;
    const merge = await workspaces.combine(cwd, id, own.commit, [commit], message, favour);
    if (merge.ok) await workspaces.move(cwd, this.#key, merge.commit);
  }

  /**
   * Runs the verification commands in the workspace, which holds the files of `commit`, and then removes the files that they
   * have left there. Returns false if the session ended meanwhile.
   */
  async #check(commit: string): Promise<boolean> {
    const { checks, world, workspaces } = this.#options;
    const { sessionId } = this;
    const last = this.#run.checks;
    if (last?.commit === commit && !last.isRunning) return true;
    const commands = await commandsToCheck(this.#run.template.phases.verification.commands, this.#cwd, checks);
    if (commands.length === 0) return true;
    await this.#report({ type: "checking", sessionId, commit });
    const { signal } = this.#checksEnd;
    const sandbox = await sandboxOf(this.#run, this.#key, workspaces);
    const done = await runChecks(commands, { checks, world, cwd: this.#cwd, runId: this.#run.id, signal, sandbox });
    if (done === null) return false;
    await this.#report({ type: "checked", sessionId, commit, commands: done });
    await workspaces.move(this.#run.cwd, this.#key, commit, { discard: true });
    return this.#isOpen;
  }

  /** Passes messages on that arrived during the turn. With `now`, an agent that cannot receive them is interrupted. */
  async #steer(session: Session, turn: number): Promise<void> {
    if (!session.wasDelivered(turn)) return;
    for (const [index, { taskId, text, told, now }] of this.#run.messages.entries()) {
      if (told || taskId !== this.taskId || this.#passedOn.has(index)) continue;
      this.#passedOn.add(index);
      // The message arrived after the turn was decided, but before its prompt was made.
      if (this.#lastPrompt?.turn === turn && index < this.#lastPrompt.messages)
        await this.#report({ type: "steered", sessionId: this.sessionId, message: index });
      else if (now && !this.#canSteer) await session.interrupt(turn);
      // An agent that cannot receive it now may read it with a tool.
      else await session.steer?.(turn, String(index), this.#options.openSecrets(text));
    }
  }

  /** Continues a suspended session, unless it waits for the user: until then it needs no process. */
  #revive(session: Session, state: SessionState): void {
    const { inbox, status } = this.#run;
    const waits = Object.values(inbox).some(({ sessionId }) => sessionId === this.sessionId);
    if (!waits && state.pausedAt === null && status !== "paused") session.revive?.();
  }

  /** Also removes the workspace; its work stays reachable through refs. */
  async end(how: "close" | "stop"): Promise<void> {
    this.#ending ??= how;
    this.#checksEnd.abort();
    const since = this.#options.world.mono();
    const turn = this.#openTurn;
    if (how === "stop" && turn !== null) await this.#session?.interrupt(turn);
    if (this.#suspendedAt !== null) this.#session?.leave();
    if (how === "close") await this.#session?.close();
    // No host knows the session of a role outside.
    else if (this.#session instanceof OutsideSession) await this.#session.stop();
    await this.#options.sessions.end(this.#run.id, this.sessionId);
    await this.#served;
    if (how === "stop" && turn !== null) await this.#reportStop(Math.round(this.#options.world.mono() - since));
    const record = this.#record;
    this.#record = this.#newRecord();
    await this.#abandon(record);
    await this.#saver.settled();
    await this.#options.workspaces.remove(this.#run.cwd, this.#key);
    await this.#stopWatching();
  }

  async #reportStop(tookMs: number): Promise<void> {
    const { sessionId, taskId } = this;
    if (taskId === null || this.#run.template.roles === undefined) return;
    const data = { sessionId, orchestratorId: this.#run.id, taskId, tookMs };
    await this.#report({ type: "record", event: { type: "worker:stopped", data } });
  }

  async #startWatching(): Promise<void> {
    if (this.#isWatching) return;
    this.#isWatching = true;
    await this.#options.watch.begin();
  }

  /** Reports changes of the user's refs and settings during the turn. Whether this session made them is unknown. */
  async #stopWatching(): Promise<void> {
    if (!this.#isWatching) return;
    this.#isWatching = false;
    const changes = await this.#options.watch.end();
    if (changes === null) return;
    const data = { id: this.#run.id, sessionId: this.sessionId, taskId: this.taskId, ...changes };
    await this.#report({ type: "record", event: { type: "repository:changed", data } });
  }

  /** Reports the usage of a turn that will not be judged. */
  async #abandon({ usage, toolStats }: TurnRecord): Promise<void> {
    if (usage.usd + usage.inputTokens + usage.outputTokens === 0) return;
    const { sessionId, taskId } = this;
    await this.#report({ type: "abandoned", sessionId, taskId, usage, toolStats });
  }

  /** Detaches from the session; its keeper continues it. */
  async leave(): Promise<void> {
    this.#ending = "leave";
    this.#checksEnd.abort();
    this.#session?.leave();
    await this.#served;
    await this.#saver.settled();
    await this.#options.watch.settled();
  }

  async #serve(): Promise<void> {
    const isExpected = this.#state?.state === "spawning" && !this.#isOutside;
    const release = isExpected ? this.#options.sessions.expect?.() : undefined;
    try {
      const start = this.#worker?.status === "spawning" ? await this.#begin() : (this.#state?.start ?? null);
      if (start === null || !this.#isOpen) return;
      const isNew = this.#state?.state === "spawning";
      const spec = this.#specOf();
      // A set-up command comes before the agent, and a sandbox needs the paths of the workspace.
      const hasSetup = isNew && (this.#run.template.workspace?.setup ?? []).length > 0;
      if (!hasSetup && this.#run.sandbox !== "on" && !this.#isOutside) this.#options.sessions.announce?.(spec);
      const checksEnd = this.#checksEnd;
      const prepared = await prepareWorkspace(this.#run, this.#key, start, isNew, {
        ...this.#options,
        get signal() {
          return checksEnd.signal;
        },
      });
      this.#cwd = prepared.path;
      this.#isSparse = prepared.isSparse ?? false;
      await this.#startWatching();
      if (!this.#isOpen) return;
      const sandbox = await sandboxOf(this.#run, this.#key, this.#options.workspaces);
      if (!this.#isOpen) return;
      const { sessions, mailbox, warmStart } = this.#options;
      const placed: SessionSpec = { ...spec, cwd: this.#cwd, sandbox };
      await mailbox?.open();
      if (isNew && this.taskId !== null) await warmStart.claim(this.#run, placed, prepared, start);
      if (!this.#isOpen) return;
      this.#session = this.#isOutside ? this.#openOutside() : sessions.open(placed);
      for await (const signal of this.#session.signals()) await this.#handle(signal, start);
    } catch (error) {
      await this.#broken(error);
    } finally {
      release?.();
    }
  }

  get #isOutside(): boolean {
    return this.#state?.agent === OUTSIDE;
  }

  #specOf(): Omit<SessionSpec, "cwd" | "sandbox"> {
    const { taskId, sessionId } = this;
    const { openSecrets, mailbox } = this.#options;
    const { agent, model, role } = this.#state!;
    const named = taskId === null ? leadOfRun(this.#run) : this.#worker?.task.role;
    const about = { sessionId, taskId, task: this.#worker?.task ?? null, attempt: this.#key.attempt };
    return {
      ...sessionSpec(this.#run, { ...about, agent, model, role }, openSecrets),
      ...(named == null ? {} : { teamRole: named }),
      ...(mailbox ? { mailbox: mailbox.folder } : {}),
    };
  }

  #openOutside(): OutsideSession {
    const { mailbox, world } = this.#options;
    const hasMail = async (): Promise<boolean> => {
      const worker = this.#worker;
      if (worker === null) return false;
      const { entries, hasRead } = await mailbox!.read(this.#run, worker);
      if (hasRead && messageTo(this.#run, this.sessionId)?.acknowledgedAt === null)
        await this.#report({ type: "acknowledged", sessionId: this.sessionId });
      return entries.length > 0;
    };
    const openTurn = this.#state?.turn?.number ?? null;
    return new OutsideSession({ sessionId: this.sessionId, hasMail, openTurn, world });
  }

  /** Ends the session with the error. If the store failed, the report fails too, and the engine halts. */
  async #broken(error: unknown): Promise<void> {
    const fault = asTuttiError(error);
    const { code, message } = fault;
    if (this.#ending || !this.#state || this.#state.state === "over") return;
    // This engine is ending, and the session continues on its host.
    if (code === "engine_stopped") return;
    if (code === "host_lost")
      return this.#report({ type: "lost", sessionId: this.sessionId, reason: message, counted: false }).catch(() => {});
    if (isEnvironmentCode(code)) return this.#options.onEnvironment(fault);
    await this.#report({ type: "unpreparable", sessionId: this.sessionId, code, error: message }).catch(() => {});
  }

  get #isOpen(): boolean {
    return this.#ending === null && this.#state !== null && this.#state.state !== "over";
  }

  /**
   * Returns the `start` of a new attempt. Returns null if a known result has completed it.
   */
  async #begin(): Promise<string | null> {
    const { workspaces, known } = this.#options;
    const start = this.#state?.start ?? (await this.#findStart());
    const worker = this.#worker;
    const run = this.#run;
    if (!worker) return start;
    if (run.forkedFrom === null) return start;
    const key = await this.#findKey(worker, start);
    const attempt = { run, worker, place: this.#key, start, key };
    const isDone = await known.takeOver(attempt, workspaces, (report) => this.#report(report));
    // `decide` may reject the result because another task has used it meanwhile; then this attempt is still open.
    return isDone && !this.#isOpen ? null : start;
  }

  /** The work key of the attempt. Only a fork needs it before `open`. */
  async #findKey(worker: Worker, start: string): Promise<string> {
    const { cwd } = this.#run;
    this.#workKey ??= keyOfAttempt(this.#run, worker, await this.#options.workspaces.treeOf(cwd, start));
    return this.#workKey;
  }

  /** `decide` names the start if a conflict between the dependencies is known. One that it could not foresee is settled. */
  async #findStart(): Promise<string> {
    const run = this.#run;
    // A skipped or failed dependency has no commit to build on.
    const needs = this.#worker!.task.dependencies.flatMap((id) => {
      const worker = workerOf(run, id);
      return worker?.status === "completed" ? [worker.commit!] : [];
    });
    const message = `Combine the dependencies of ${this.taskId} of ${run.id}`;
    const favour = FAVOURED[run.template.phases.aggregation.conflictResolution];
    const merge = await this.#options.workspaces.combine(run.cwd, run.id, run.base!, needs, message, favour);
    if (merge.ok) return merge.commit;
    throw new TuttiError(
      "workspace_failed",
      `The work of its dependencies conflicts in ${merge.files.join(", ")}. Retry it.`,
    );
  }

  async #handle(signal: SessionSignal, start: string): Promise<void> {
    const { sessionId } = this;
    this.#lastSignalAt = this.#options.world.mono();
    switch (signal.type) {
      case "ready":
        await this.#ready(start);
        return this.refresh();
      case "unstartable": {
        const error = `The agent "${this.#state?.agent ?? this.#run.agent}" could not be started: ${signal.error}`;
        return this.#report({ type: "unpreparable", sessionId, code: "agent_not_startable", error });
      }
      case "forged": {
        const error = `The file ${JSON.stringify(signal.name)} among the requests to its keeper was not written by Tutti, so the session was ended. Check the agent's transcript for the reason, then retry.`;
        return this.#report({ type: "unpreparable", sessionId, code: "request_forged", error });
      }
      case "tooMuchOutput": {
        const error = `The agent wrote more than ${Math.round(signal.limit / 1_000_000)} MB of output, so the session was ended. Check the agent's transcript for the reason, then retry, or raise "sessions.maxOutputMb" in tutti.config.json.`;
        return this.#report({ type: "unpreparable", sessionId, code: "output_too_large", error });
      }
      case "text": {
        const previous = this.#progress;
        for (let from = 0; from === 0 || from < signal.text.length; from += PIECE) {
          if (from > 0) await this.#options.world.sleep(0);
          this.#readText(signal.text.slice(from, from + PIECE), signal.complete && from + PIECE >= signal.text.length);
        }
        if (signal.complete) await this.#noteAcknowledgement(signal.text);
        return this.#progressReporter.changed(this.#progress !== previous);
      }
      case "report":
        return this.#handleReport(signal);
      case "agent":
        this.#canSteer = signal.capabilities?.steer === true;
        return;
      case "steered":
        return this.#report({ type: "steered", sessionId, message: Number(signal.id) });
      case "sent":
        this.#readTurn = signal.turn;
        return;
      case "toolResult":
        this.#record.noteCharacters(signal.text.length);
        return;
      case "partial":
      case "other":
      case "stalled":
      case "interrupted":
        return;
      case "subagent":
        return this.#handleSubagent(signal);
      case "tool":
        this.#record.tool(signal.name, signal.id);
        // Only the context of the main session counts, and a worker may call a tool very often.
        if (this.taskId === null) this.#record.noteCharacters(JSON.stringify(signal.input ?? null).length);
        this.#saver.worked();
        return this.#progressReporter.changed(false);
      case "toolFailed":
        this.#record.toolFailed(signal.id);
        return this.#progressReporter.changed(false);
      case "usage":
        this.#record.spend(signal.usage, signal.context);
        return this.#caughtUp ? this.#options.onSpent() : undefined;
      case "ask": {
        const { type: _, ...question } = signal;
        await this.#report({ type: "asked", sessionId, itemId: this.#newItemId(), ...question });
        return this.refresh();
      }
      case "trouble": {
        const { cause, detail, retryAfterMs } = signal;
        // Trouble from before `caughtUp` has passed.
        if (!this.#caughtUp) return;
        return this.#report({ type: "troubled", sessionId, cause, detail, retryAfterMs });
      }
      case "askCancelled":
        return this.#report({ type: "unasked", sessionId, askId: signal.askId });
      case "turnOver":
        await this.#turnOver(signal);
        return this.refresh();
      case "suspended":
        this.#suspendedAt = signal.since;
        return this.refresh();
      case "revived":
        this.#suspendedAt = null;
        return this.refresh();
      case "caughtUp":
        this.#started.resolve();
        this.#caughtUp = true;
        this.#options.onCaughtUp();
        return;
      case "gone":
        if (this.#state?.state !== "over" && !this.#ending) {
          await this.#report({ type: "lost", sessionId, reason: signal.reason, counted: !signal.deliberate });
        }
    }
  }

  async #handleSubagent(signal: Extract<SessionSignal, { type: "subagent" }>): Promise<void> {
    const { sessionId, taskId } = this;
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
    this.#options.onSubagent(subagent);
    const shown = text === null ? null : text.slice(0, MAX_CHARACTERS);
    await this.#report({ type: "subagent", sessionId, taskId, subagent: { ...subagent, text: shown } });
  }

  async #handleReport({ phase, data }: Extract<SessionSignal, { type: "report" }>): Promise<void> {
    if (phase === TASK_READ) await this.#acknowledge();
    if (phase !== "progress" && phase !== "heartbeat") return this.#record.report(phase, data);
    // The tool has validated the data. A main session has no task, and shows only its action.
    if (phase === "progress") this.#progress = data as ProgressAnswer;
    return this.#progressReporter.changed(true);
  }

  #readText(text: string, complete: boolean): void {
    for (const block of this.#record.text(text, complete)) {
      this.#progress = readProgress(block, this.taskId ?? undefined) ?? this.#progress;
    }
  }

  /** An acknowledgement counts as it arrives; all other messages are read at the end of the turn. */
  async #noteAcknowledgement(text: string): Promise<void> {
    const worker = this.#worker;
    if (!worker || !text.includes("TASK_ACKNOWLEDG")) return;
    const messages = readMessages(this.#run, worker, this.#record, this.#lastPrompt?.text ?? "")?.messages ?? [];
    const isAcknowledged = messages.some(({ type, reasons }) => type === "TASK_ACKNOWLEDGMENT" && reasons.length === 0);
    if (isAcknowledged) await this.#acknowledge();
  }

  /** A replayed acknowledgement of an earlier turn (`#readTurn`) is not about the newest message. */
  async #acknowledge(): Promise<void> {
    const { sessionId } = this;
    if (this.#readTurn === this.#state?.turn?.number) await this.#report({ type: "acknowledged", sessionId });
  }

  async #ready(start: string): Promise<void> {
    const worker = this.#worker;
    // An adopted session emits `ready` again; the log has its key already.
    const key = worker?.status === "spawning" ? { key: await this.#findKey(worker, start) } : {};
    const { mailbox } = this.#options;
    const mail = this.#hasMail ? { mail: { workspace: this.#cwd, reportTo: mailbox!.reportTo(this.#run) } } : {};
    await this.#report({ type: "ready", sessionId: this.sessionId, start, ...key, ...mail });
  }

  /** A later engine that reads the same signals again does not know how long the session was suspended. */
  #cutOff({ asks }: SessionState): CutOff {
    const now = this.#options.world.now();
    const isUnheard = ([askId, text]: [string, string | null]): boolean =>
      text !== null && this.#session?.wasAnswered?.(askId) === false;
    const unheard = Object.entries(asks).filter(isUnheard);
    return { asleepMs: now - (this.#suspendedAt ?? now), unheard: unheard.map(([askId]) => askId) };
  }

  async #turnOver({ turn, ending, cutOff }: Extract<SessionSignal, { type: "turnOver" }>): Promise<void> {
    const record = this.#record;
    this.#record = this.#newRecord();
    this.#openTurn = null;
    if (this.taskId === null) this.#progress = null;
    const state = this.#state;
    // The turn was judged before a restart, or a timeout or cancellation came first.
    if (state?.turn?.number !== turn) return this.#caughtUp ? this.#abandon(record) : undefined;
    const { writer, workspaces } = this.#options;
    // A save under way would write its `-saved` ref after the snapshot has deleted it.
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
      prompt: this.#lastPrompt?.turn === turn ? this.#lastPrompt.text : null,
      itemId: this.#newItemId(),
      mail: this.#hasMail ? await this.#options.mailbox!.read(this.#run, this.#worker!) : null,
      history: state.turn.phase === "taskPlanning" ? this.#options.history(this.#run) : null,
    });
    for (const { phase, reason } of judged.ignored.slice(0, MAX_IGNORED_EVENTS)) {
      const data = {
        id: writer.id,
        sessionId: this.sessionId,
        taskId: this.taskId,
        phase: phase.slice(0, 100),
        reason: reason.slice(0, MAX_CHARACTERS),
      };
      await this.#report({ type: "record", event: { type: "protocol:ignored", data } });
    }
    await this.#stopWatching();
    const { answer, work } = judged.over;
    // The main session has changed the result, so the commands run again on what it made.
    const isChanged = answer?.phase === "verification" && work?.head != null && work.files.length > 0;
    if (isChanged && !(await this.#check(work.head!))) return;
    if (judged.moved) await this.#report({ type: "refMoved", moved: judged.moved });
    const over = cutOff ? { ...judged.over, cutOff: this.#cutOff(state) } : judged.over;
    await this.#report({ type: "turnOver", sessionId: this.sessionId, turn, over });
  }

  #newItemId(): string {
    return `item_${this.#options.world.id(10)}`;
  }

  async #report(report: Parameters<RunWriter["submit"]>[0]): Promise<void> {
    await this.#options.writer.submit(report);
  }
}
