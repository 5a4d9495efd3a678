// `WarmStart` starts the agent of the task that will probably follow, if the template sets `warmSessions`. The agent
// waits for its prompt.
//
// Invariants
// 1. No event mentions a warm session. It uses no slot, no budget and no attempt.
// 2. It waits in the workspace that was made ahead. It is claimed only if that folder was moved to the start of the
//    attempt, and if the move changed no file that agents read when they start (`isReadAtStart`).
// 3. It is ended when another task becomes more likely, and when the run leaves the status `running`.
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
  /** Resolves when the last session that was not claimed has ended and its folder is removed. */
  #ending: Promise<void> = Promise.resolve();
  #isOver = false;

  constructor(options: WarmStartOptions) {
    this.#options = options;
  }

  /** Starts the agent of `taskId`, probably the next task. `cwd` is the workspace that was made for its first attempt. */
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

  /** True for a task that was never started, in a run with the status `running`. */
  #mayWait(taskId: string): boolean {
    const { template, status } = this.#run;
    if (!template.config.warmSessions || this.#isOver || status !== "running") return false;
    return taskStanding(this.#run, taskId) === "neverStarted";
  }

  /** Whether the session that waits will not be claimed. `next` is the probable next task, or null if it is unknown. */
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

  /** Ends the session that waits, and starts no other. */
  async end(): Promise<void> {
    this.#isOver = true;
    await this.discard().catch(() => {});
  }

  /** Call `claim` before `open`, which then adopts the session that waited, or starts one. */
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
