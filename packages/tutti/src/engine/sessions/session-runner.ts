// Serves one session: prepares its workspace, opens it, delivers the turns that the log contains, and reports its
// signals. A runner decides nothing. After a crash, a new runner repeats the work from the log and the session's
// folder and reaches the same point.
//
// The phases, in order: `AttemptStart`, `prepareSession` and `openSession`; then for each turn `TurnDelivery`,
// `SignalRecorder` and `reportTurn`; then `end` or `leave`.
import { OutsideSession } from "../mailboxes/outside-session.ts";
import { AttemptStart } from "./serving/attempt-start.ts";
import { openSession, prepareSession } from "./serving/prepare-session.ts";
import { reportTurn } from "./serving/report-turn.ts";
import { ServedSession, type SessionRunnerOptions } from "./serving/served-session.ts";
import { SignalRecorder } from "./serving/signal-recorder.ts";
import { TurnDelivery } from "./serving/turn-delivery.ts";
import type { CutOff } from "../../run/command.ts";
import { asTuttiError, isEnvironmentCode } from "../../schema/error.ts";
import { NO_USAGE, type Usage } from "../../schema/outcome.ts";
import type { SessionState } from "../../schema/worker.ts";
import type { Session, SessionSignal } from "../../session/session.ts";

type SignalOf<Type extends SessionSignal["type"]> = Extract<SessionSignal, { type: Type }>;

interface OpenedSession {
  session: Session;
  /** Since when the session has been suspended; null if it is not. */
  suspendedAt: number | null;
}

type Stage =
  /** The session has no workspace or no process yet. */
  | { name: "preparing" }
  /** The session repeats the signals from before `open`. Turns that they end may have been judged. */
  | ({ name: "replaying" } & OpenedSession)
  | ({ name: "caughtUp" } & OpenedSession);

const UNCONCERNED = Promise.resolve();

export class SessionRunner {
  readonly #served: ServedSession;
  readonly #attempt: AttemptStart;
  readonly #delivery: TurnDelivery;
  readonly #recorder: SignalRecorder;
  #stage: Stage = { name: "preparing" };
  readonly #serving: Promise<void>;
  readonly #started = Promise.withResolvers<void>();

  constructor(options: SessionRunnerOptions) {
    this.#served = new ServedSession(options);
    this.#attempt = new AttemptStart(this.#served);
    this.#delivery = new TurnDelivery(this.#served);
    this.#recorder = new SignalRecorder(this.#served, {
      isCaughtUp: () => this.#isCaughtUp,
      lastPrompt: () => this.#delivery.lastPrompt?.text ?? null,
    });
    this.#serving = this.#serve().finally(this.#started.resolve);
  }

  get sessionId(): string {
    return this.#served.sessionId;
  }

  get taskId(): string | null {
    return this.#served.taskId;
  }

  /** Resolves when the session has a workspace and a process, or will not get them. */
  get started(): Promise<void> {
    return this.#started.promise;
  }

  /** While `caughtUp` is false the session cannot time out: its result may be unread. */
  get caughtUp(): boolean {
    if (this.#stage.name !== "caughtUp") return false;
    const turn = this.#served.state?.turn?.number;
    return turn === undefined || this.#stage.session.hasLooked?.(turn) !== false;
  }

  get #isCaughtUp(): boolean {
    return this.#stage.name === "caughtUp";
  }

  get #opened(): OpenedSession | null {
    return this.#stage.name === "preparing" ? null : this.#stage;
  }

  get spent(): Usage {
    // Before `#isCaughtUp` the record contains turns that the log has counted already.
    return this.#isCaughtUp ? this.#recorder.usage : NO_USAGE;
  }

  touch(): void {
    this.#served.touch();
  }

  get silentMs(): number {
    return this.#served.silentMs;
  }

  async #serve(): Promise<void> {
    const served = this.#served;
    const isExpected = served.state?.state === "spawning" && !served.isOutside;
    const release = isExpected ? served.options.sessions.expect?.() : undefined;
    try {
      const isSpawning = served.worker?.status === "spawning";
      const start = isSpawning ? await this.#attempt.begin() : (served.state?.start ?? null);
      if (start === null || !served.isOpen) return;
      const spec = await prepareSession(served, start);
      // `end` may have been called since `prepareSession` looked, and would not close a session opened now.
      if (spec === null || !served.isOpen) return;
      const session = openSession(served, spec);
      this.#stage = { name: "replaying", session, suspendedAt: null };
      for await (const signal of session.signals()) await this.#handle(signal, start);
    } catch (error) {
      await this.#broken(error);
    } finally {
      release?.();
    }
  }

  /** Called after every change of the run; delivers a new turn or the answer to a question. */
  refresh(): Promise<void> {
    return this.#isConcerned ? this.#passOn().catch((error: unknown) => this.#broken(error)) : UNCONCERNED;
  }

  /** Whether `#passOn` may have something to do. Most changes of a run are about other sessions. */
  get #isConcerned(): boolean {
    const state = this.#opened && this.#served.state;
    if (state?.state !== "running") return false;
    const { turn, pausedAt, asks } = state;
    if (this.#opened?.suspendedAt !== null || Object.keys(asks).length > 0) return true;
    if (turn === null) return false;
    return this.#delivery.isNew(turn) || pausedAt !== null || this.#served.run.messages.length > 0;
  }

  async #passOn(): Promise<void> {
    const { state } = this.#served;
    if (this.#opened === null || state?.state !== "running") return;
    const { session, suspendedAt } = this.#opened;
    if (suspendedAt !== null) return this.#revive(session, state);
    // Whether the session is suspended is known only when it is `#isCaughtUp`.
    if (this.#isCaughtUp && Object.keys(state.asks).length > 0) await this.#delivery.answer(session, state.asks);
    const { turn, pausedAt } = state;
    if (turn === null) return;
    if (pausedAt !== null) return session.interrupt(turn.number);
    if (this.#delivery.isNew(turn)) return this.#delivery.deliver(session, turn);
    return this.#delivery.steer(session, turn.number);
  }

  /** Continues a suspended session, unless it waits for the user: until then it needs no process. */
  #revive(session: Session, state: SessionState): void {
    const { inbox, status } = this.#served.run;
    const waits = Object.values(inbox).some(({ sessionId }) => sessionId === this.#served.sessionId);
    if (!waits && state.pausedAt === null && status !== "paused") session.revive?.();
  }

  async #handle(signal: SessionSignal, start: string): Promise<void> {
    const served = this.#served;
    const { sessionId } = served;
    served.touch();
    switch (signal.type) {
      case "ready":
        await this.#ready(start);
        return this.refresh();
      case "unstartable": {
        const error = `The agent "${served.state?.agent ?? served.run.agent}" could not be started: ${signal.error}`;
        return served.report({ type: "unpreparable", sessionId, code: "agent_not_startable", error });
      }
      case "forged": {
        const error = `The file ${JSON.stringify(signal.name)} among the requests to its keeper was not written by Tutti, so the session was ended. Check the agent's transcript for the reason, then retry.`;
        return served.report({ type: "unpreparable", sessionId, code: "request_forged", error });
      }
      case "tooMuchOutput": {
        const error = `The agent wrote more than ${Math.round(signal.limit / 1_000_000)} MB of output, so the session was ended. Check the agent's transcript for the reason, then retry, or raise "sessions.maxOutputMb" in tutti.config.json.`;
        return served.report({ type: "unpreparable", sessionId, code: "output_too_large", error });
      }
      case "text":
      case "report":
      case "sent":
      case "toolResult":
      case "subagent":
      case "tool":
      case "toolFailed":
      case "usage":
        return this.#recorder.read(signal);
      case "agent":
        this.#delivery.canSteer = signal.capabilities?.steer === true;
        return;
      case "steered":
        return served.report({ type: "steered", sessionId, message: Number(signal.id) });
      case "partial":
      case "other":
      case "stalled":
      case "interrupted":
        return;
      case "ask": {
        const { type: _, ...question } = signal;
        await served.report({ type: "asked", sessionId, itemId: served.newItemId(), ...question });
        return this.refresh();
      }
      case "trouble": {
        const { cause, detail, retryAfterMs } = signal;
        // Trouble from before `#isCaughtUp` has passed.
        if (!this.#isCaughtUp) return;
        return served.report({ type: "troubled", sessionId, cause, detail, retryAfterMs });
      }
      case "askCancelled":
        return served.report({ type: "unasked", sessionId, askId: signal.askId });
      case "turnOver":
        await this.#turnOver(signal);
        return this.refresh();
      case "suspended":
        this.#change({ suspendedAt: signal.since });
        return this.refresh();
      case "revived":
        this.#change({ suspendedAt: null });
        return this.refresh();
      case "caughtUp":
        this.#started.resolve();
        this.#change({ name: "caughtUp" });
        served.options.onCaughtUp();
        return;
      case "gone":
        if (served.state?.state !== "over" && !served.ending) {
          await served.report({ type: "lost", sessionId, reason: signal.reason, counted: !signal.deliberate });
        }
    }
  }

  #change(change: { name: "caughtUp" } | Pick<OpenedSession, "suspendedAt">): void {
    if (this.#stage.name !== "preparing") this.#stage = { ...this.#stage, ...change };
  }

  async #ready(start: string): Promise<void> {
    const { worker, sessionId, hasMail, workspace, run, options } = this.#served;
    // An adopted session emits `ready` again; the log has its key already.
    const key = worker?.status === "spawning" ? { key: await this.#attempt.findKey(worker, start) } : {};
    const mail = hasMail ? { mail: { workspace: workspace.path, reportTo: options.mailbox!.reportTo(run) } } : {};
    await this.#served.report({ type: "ready", sessionId, start, ...key, ...mail });
  }

  async #turnOver({ turn, ending, cutOff }: SignalOf<"turnOver">): Promise<void> {
    const record = this.#recorder.next();
    this.#recorder.forgetProgress();
    this.#delivery.openTurn = null;
    const { state } = this.#served;
    // The turn was judged before a restart, or a timeout or cancellation came first.
    if (state?.turn?.number !== turn) return this.#isCaughtUp ? this.#served.abandon(record) : undefined;
    // A save under way would write its `-saved` ref after the snapshot has deleted it.
    await this.#recorder.saved();
    const { lastPrompt } = this.#delivery;
    const prompt = lastPrompt?.turn === turn ? lastPrompt.text : null;
    const since = cutOff ? () => this.#cutOff(state) : null;
    await reportTurn(this.#served, { state, record, ending, prompt, cutOff: since });
  }

  /** A later engine that reads the same signals again does not know how long the session was suspended. */
  #cutOff({ asks }: SessionState): CutOff {
    const now = this.#served.options.world.now();
    const isUnheard = ([askId, text]: [string, string | null]): boolean =>
      text !== null && this.#opened?.session.wasAnswered?.(askId) === false;
    const unheard = Object.entries(asks).filter(isUnheard);
    return { asleepMs: now - (this.#opened?.suspendedAt ?? now), unheard: unheard.map(([askId]) => askId) };
  }

  /** Ends the session with the error. If the store failed, the report fails too, and the engine halts. */
  async #broken(error: unknown): Promise<void> {
    const fault = asTuttiError(error);
    const { code, message } = fault;
    const { isOpen, sessionId } = this.#served;
    // With `engine_stopped`, this engine is ending, and the session continues on its host.
    if (!isOpen || code === "engine_stopped") return;
    if (isEnvironmentCode(code)) return this.#served.options.onEnvironment(fault);
    const report =
      code === "host_lost"
        ? ({ type: "lost", sessionId, reason: message, counted: false } as const)
        : ({ type: "unpreparable", sessionId, code, error: message } as const);
    await this.#served.report(report).catch(() => {});
  }

  /** Also removes the workspace; its work stays reachable through refs. */
  async end(how: "close" | "stop"): Promise<void> {
    const served = this.#served;
    const { world, sessions, workspaces } = served.options;
    served.ending ??= how;
    served.checksEnd.abort();
    const since = world.mono();
    const turn = this.#delivery.openTurn;
    if (how === "stop" && turn !== null) await this.#opened?.session.interrupt(turn);
    const { session = null, suspendedAt = null } = this.#opened ?? {};
    if (suspendedAt !== null) session?.leave();
    if (how === "close") await session?.close();
    // `sessions` does not know an `OutsideSession`, so `end` below would not stop it.
    else if (session instanceof OutsideSession) await session.stop();
    await sessions.end(served.run.id, served.sessionId);
    await this.#serving;
    if (how === "stop" && turn !== null) await this.#reportStop(Math.round(world.mono() - since));
    await served.abandon(this.#recorder.next());
    await this.#recorder.saved();
    await workspaces.remove(served.run.cwd, served.key);
    await served.stopWatching();
  }

  async #reportStop(tookMs: number): Promise<void> {
    const { sessionId, taskId, run } = this.#served;
    if (taskId === null || run.template.roles === undefined) return;
    const data = { sessionId, orchestratorId: run.id, taskId, tookMs };
    await this.#served.report({ type: "record", event: { type: "worker:stopped", data } });
  }

  /** Detaches from the session; its keeper continues it. */
  async leave(): Promise<void> {
    this.#served.ending = "leave";
    this.#served.checksEnd.abort();
    this.#opened?.session.leave();
    await this.#serving;
    await this.#recorder.saved();
    await this.#served.options.watch.settled();
  }
}
