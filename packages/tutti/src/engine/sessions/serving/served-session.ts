// `ServedSession` is the session of one runner as the log shows it, with everything that the phases of serving it share.
import type { ConflictRadar } from "../../merging/conflict-radar.ts";
import type { NameFinder } from "../../merging/report-used-names.ts";
import type { TeamMailbox } from "../../mailboxes/run-mailbox.ts";
import { LazyAbort } from "../../lazy-abort.ts";
import type { RunWriter } from "../../run-writer.ts";
import type { CheckRunner } from "../run-checks.ts";
import type { RepositoryWatch } from "../repository-watch.ts";
import type { TurnRecord } from "../turn-record.ts";
import type { WarmStart } from "../../warm-start.ts";
import type { KnownResults } from "../../copies/known-results.ts";
import { workerOf } from "../../../run/lookup.ts";
import { protocolOf } from "../../../run/team/team.ts";
import type { History, SubagentReport } from "../../../run/command.ts";
import type { TuttiError } from "../../../schema/error.ts";
import type { Run } from "../../../schema/run.ts";
import { OUTSIDE, type TeamRole } from "../../../schema/team/roles.ts";
import type { SessionState, Worker } from "../../../schema/worker.ts";
import type { SessionHost } from "../../../session/session.ts";
import type { WorkspaceKey, Workspaces } from "../../../workspace/workspace.ts";
import type { World } from "../../../world.ts";

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

/** Without a reason, `abort` creates an exception with a stack trace, for every session that ends. */
const ENDED = "the session has ended";

export class ServedSession {
  readonly options: SessionRunnerOptions;
  readonly sessionId: string;
  readonly taskId: string | null;
  readonly key: WorkspaceKey;
  /** Ends the set-up and verification commands when the session ends. */
  readonly checksEnd = new LazyAbort(ENDED);
  /** Null while the session is wanted. */
  ending: "close" | "stop" | "leave" | null = null;
  /** Set by `prepareSession`. With `isSparse`, the workspace may have only a part of the files. */
  workspace = { path: "", isSparse: false };
  /** True from the preparation or the start of a turn to its end. */
  #isWatching = false;
  #lastSignalAt: number;
  /** The result of `worker` for the newest `run`, because most calls are about the same state. */
  #looked: { run: Run | null; worker: Worker | null } = { run: null, worker: null };

  constructor(options: SessionRunnerOptions) {
    const { writer, taskId, attempt, sessionId } = options;
    this.options = options;
    this.#lastSignalAt = options.world.mono();
    this.sessionId = sessionId;
    this.taskId = taskId;
    this.key = { runId: writer.id, name: taskId ?? "main", attempt, sessionId };
  }

  get run(): Run {
    return this.options.writer.run;
  }

  get worker(): Worker | null {
    const { run } = this;
    if (this.#looked.run !== run) {
      const worker = this.taskId === null ? undefined : workerOf(run, this.taskId);
      this.#looked = { run, worker: worker?.sessionId === this.sessionId ? worker : null };
    }
    return this.#looked.worker;
  }

  /** Null once another session has replaced this one. */
  get state(): SessionState | null {
    if (this.taskId !== null) return this.worker?.session ?? null;
    return this.run.main?.sessionId === this.sessionId ? this.run.main : null;
  }

  get isOpen(): boolean {
    return this.ending === null && this.state !== null && this.state.state !== "over";
  }

  get isOutside(): boolean {
    return this.state?.agent === OUTSIDE;
  }

  /** Null for the main session. */
  get protocol(): TeamRole["protocol"] | null {
    return this.worker && protocolOf(this.run, this.worker.task);
  }

  /** Whether the role of this session works on the mailbox. */
  get hasMail(): boolean {
    return this.protocol === "mailbox";
  }

  /** Restarts the idle time, at every signal and for example after a suspend. */
  touch(): void {
    this.#lastSignalAt = this.options.world.mono();
  }

  /** Milliseconds since the last signal. */
  get silentMs(): number {
    return this.options.world.mono() - this.#lastSignalAt;
  }

  newItemId(): string {
    return `item_${this.options.world.id(10)}`;
  }

  async report(report: Parameters<RunWriter["submit"]>[0]): Promise<void> {
    await this.options.writer.submit(report);
  }

  /** Reports the usage of a turn that will not be judged. */
  async abandon({ usage, toolStats }: TurnRecord): Promise<void> {
    if (usage.usd + usage.inputTokens + usage.outputTokens === 0) return;
    const { sessionId, taskId } = this;
    await this.report({ type: "abandoned", sessionId, taskId, usage, toolStats });
  }

  async startWatching(): Promise<void> {
    if (this.#isWatching) return;
    this.#isWatching = true;
    await this.options.watch.begin();
  }

  /** Reports changes of the user's refs and settings during the turn. Whether this session made them is unknown. */
  async stopWatching(): Promise<void> {
    if (!this.#isWatching) return;
    this.#isWatching = false;
    const changes = await this.options.watch.end();
    if (changes === null) return;
    const data = { id: this.run.id, sessionId: this.sessionId, taskId: this.taskId, ...changes };
    await this.report({ type: "record", event: { type: "repository:changed", data } });
  }
}
