// `WarmStart` lets the agent of the task that will probably follow wait for its prompt, if the template sets
// `warmSessions`.
//
// Invariants
// 1. The log does not know of a warm session: it uses no slot, no budget and no attempt.
// 2. It waits in the workspace that was made ahead. It is used only if that folder was moved to the start of the attempt,
//    and if the move changed no file that agents read when they start (`isReadAtStart`).
// 3. It ends with the guess: when another task is more likely, when the run does not go on, and with the run.
import { sandboxOf } from "./choose-sandbox.ts";
import { sessionSpec } from "./session-spec.ts";
import type { RunWriter } from "./run-writer.ts";
import { taskStanding } from "../run/census.ts";
import { taskOf } from "../run/lookup.ts";
import { workerAgent } from "../run/rules/assign-agent.ts";
import { workerSessionId } from "../schema/ids.ts";
import type { Run } from "../schema/run.ts";
import type { SessionHost, SessionSpec } from "../session/session.ts";
import type { PreparedWorkspace, WorkspaceKey, Workspaces } from "../workspace/workspace.ts";

interface WarmStartOptions {
  writer: RunWriter;
  sessions: SessionHost;
  workspaces: Workspaces;
  openSecrets: <T>(value: T) => T;
}

/** Instructions and settings of agents. Hidden files and folders are settings of programs. */
const isReadAtStart = (path: string): boolean =>
  path.split("/").some((name) => name.startsWith(".") || /^(?:CLAUDE|AGENTS?|GEMINI)\b.*\.md$/i.test(name));

export class WarmStart {
  readonly #options: WarmStartOptions;
  #waiting: { taskId: string; sessionId: string } | null = null;
  /** The end of the last session that was not used. Its folder is removed in it. */
  #ending: Promise<void> = Promise.resolve();
  #isOver = false;

  constructor(options: WarmStartOptions) {
    this.#options = options;
  }

  /** Whether the task `taskId` is the next one is a guess; the workspace of its first attempt was made ahead. */
  async prepare(taskId: string, key: WorkspaceKey, cwd: string): Promise<void> {
    const { sessions, workspaces, openSecrets } = this.#options;
    if (!sessions.warm || !this.#mayWait(taskId) || this.#waiting !== null) return;
    const sandbox = await sandboxOf(this.#run, key, workspaces);
    await this.#ending;
    // Nothing is awaited from here on, so the task cannot start meanwhile.
    if (!this.#mayWait(taskId) || this.#waiting !== null) return;
    const run = this.#run;
    const task = taskOf(run, taskId)!;
    const { agent, model, role } = workerAgent(run, task);
    const { attempt } = key;
    const sessionId = workerSessionId(run.id, taskId, attempt, run.template.config.sessionPrefix);
    const facts = { sessionId, taskId, task, attempt, agent, model, role };
    const spec = { ...sessionSpec(run, facts, openSecrets), cwd, sandbox };
    if (sessions.warm(spec)) this.#waiting = { taskId, sessionId };
  }

  get #run(): Run {
    return this.#options.writer.run;
  }

  /** Only a task that has never been started, in a run that goes on. */
  #mayWait(taskId: string): boolean {
    const { template, status } = this.#run;
    if (!template.config.warmSessions || this.#isOver || status !== "running") return false;
    return taskStanding(this.#run, taskId) === "neverStarted";
  }

  /** Whether the session that waits will not be used. `next` is null if the guess is unknown now. */
  isObsolete(next: string | null): boolean {
    if (this.#waiting === null) return false;
    const { taskId } = this.#waiting;
    // Once the task has started, `claim` decides.
    if (taskStanding(this.#run, taskId) === "active") return false;
    return !this.#mayWait(taskId) || (next !== null && next !== taskId);
  }

  async discard(): Promise<void> {
    const waiting = this.#waiting;
    this.#waiting = null;
    if (waiting) this.#ending = this.#options.sessions.end(this.#run.id, waiting.sessionId);
    await this.#ending;
  }

  /** No session waits from now on. */
  async end(): Promise<void> {
    this.#isOver = true;
    await this.discard().catch(() => {});
  }

  /** Called before `open`. Afterwards `open` adopts the session that waited, or starts one. */
  async claim(run: Run, spec: SessionSpec, { movedFrom }: PreparedWorkspace, start: string): Promise<void> {
    const { sessions, workspaces } = this.#options;
    if (!sessions.claim) return;
    await this.#ending.catch(() => {});
    const isHere = this.#waiting?.sessionId === spec.sessionId;
    if (isHere) this.#waiting = null;
    const isMoved = isHere && movedFrom !== undefined && movedFrom !== start;
    const changed = isMoved ? await workspaces.changedFiles(run.cwd, movedFrom, start) : [];
    await sessions.claim(spec, isHere && movedFrom !== undefined && !changed.some(isReadAtStart));
  }
}
