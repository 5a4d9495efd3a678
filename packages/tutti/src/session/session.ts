// The engine's view of agents: a `SessionHost` opens a `Session`, the engine delivers turns and reads signals.
// Programs, protocols and processes are behind this interface, so a simulation can replace them.
import type { Capabilities } from "./dialogue.ts";
import type { Ending } from "../schema/ending.ts";
import type { Permissions } from "../schema/permissions.ts";
import type { SandboxPaths } from "../schema/agent/sandbox.ts";
import type { Phase } from "../schema/status.ts";
import type { DelegationRight } from "../schema/task.ts";
import type { AgentActivity, AgentQuestion, TranscriptEntry, TranscriptPage } from "../schema/transcript.ts";

export interface SessionSpec {
  sessionId: string;
  runId: string;
  /** `main` or `worker`, or a role that the template names. */
  role: string;
  /** The role in a team, as the template writes it. */
  teamRole?: string;
  /** The folder of the run's `mailbox`, if a role of the team works on it. The agent may write to it. */
  mailbox?: string;
  taskId: string | null;
  /** Without `delegation` the session cannot delegate with `new_task`. */
  delegation?: DelegationRight;
  attempt: number;
  /** The agent's name as the user gave it, e.g. `command:my-agent --fast`. */
  agent: string;
  /** The agent's own default if missing. */
  model?: string;
  cwd: string;
  permissions: Permissions;
  /** How many levels of sub-agents the agent may start. Without `subagentDepth` there is no limit. */
  subagentDepth?: number | undefined;
  /** In milliseconds; only agents with a dialogue can stall. */
  stallTimeout?: number;
  sandbox?: SessionSandbox | undefined;
}

export interface SessionSandbox {
  network: boolean;
  access: SandboxPaths;
}

export interface Turn {
  /** Counts from 1 within the session. Delivering the same `number` again changes nothing. */
  number: number;
  phase: Phase;
  /** System text, blank line, user text. */
  text: string;
  variables: Record<string, string>;
  /** The message to a role that reads it with the tool `read_task`. */
  message?: Record<string, unknown>;
  /** The commit that a result of this turn gets. A session on another machine makes it before it reports `turnOver`. */
  commit?: WorkCommit;
}

export interface WorkCommit {
  start: string;
  message: string;
  scope: readonly string[];
}

/** An `AgentSignal` is decoded from the agent's output. */
export type AgentSignal =
  /** Sent by agents that introduce themselves at their start. */
  | { type: "agent"; agent: string; version: string; conversation: string | null; capabilities: Capabilities | null }
  /** `complete` ends one message. */
  | { type: "text"; text: string; complete: boolean }
  /** A piece of a message for display only; the whole message follows as `text`. */
  | { type: "partial"; text: string }
  | AgentActivity
  | ({ type: "ask"; askId: string } & AgentQuestion)
  /** The agent answered with a tool of Tutti instead of a block. */
  | { type: "report"; phase: string; data: Record<string, unknown> };

export type SessionSignal =
  /** The session accepts turns. */
  | { type: "ready" }
  /** The keeper passed a turn to the agent. */
  | { type: "sent"; turn: number }
  /** The agent cannot start, e.g. because its program does not exist. */
  | { type: "unstartable"; error: string }
  | AgentSignal
  /** The interrupt was sent. `turnOver` follows if the agent obeys. */
  | { type: "interrupted"; turn: number }
  /** The keeper killed an agent without activity; it resumes the agent where that is possible. */
  | { type: "stalled"; detail: string }
  /** A request to the keeper was not signed by the engine. The keeper ended the session instead of obeying it. */
  | { type: "forged"; name: string }
  /** The agent wrote more than `limit` bytes. The keeper ended the session. */
  | { type: "tooMuchOutput"; limit: number }
  /**
   * An interrupted turn has the ending `interrupted`, however the agent ended it. So has a turn that was open when the
   * session was suspended; it is `cutOff`.
   */
  | { type: "turnOver"; turn: number; ending: Ending; cutOff?: true }
  /**
   * Tutti ended the processes of the session at `since`, in milliseconds since 1970, and its conversation can be resumed.
   * More signals follow after `revive`.
   */
  | { type: "suspended"; since: number }
  /** A new process resumes the conversation. All signals since then are from it. */
  | { type: "revived" }
  /** Signals before this one are older than the call of `open`. */
  | { type: "caughtUp" }
  /**
   * No process is left; always the last signal. `deliberate` if Tutti ended the session, which then counts as no loss.
   */
  | { type: "gone"; reason: string; deliberate: boolean };

export interface Session {
  readonly sessionId: string;
  /** Replays all signals from the start of the session, then emits new ones. The engine skips those it has judged. */
  signals(): AsyncGenerator<SessionSignal>;
  deliver(turn: Turn): Promise<void>;
  /** Whether this engine or an earlier one delivered the turn. */
  wasDelivered(turn: number): boolean;
  /**
   * Whether the session has looked for a result of the turn since it was delivered. Its signal `caughtUp` follows. Absent
   * if results arrive only as signals.
   */
  hasLooked?(turn: number): boolean;
  answer(askId: string, text: string): Promise<void>;
  /**
   * Whether `answer` was called, here or by an earlier engine. `wasAnswered` is absent if the session is never
   * suspended.
   */
  wasAnswered?(askId: string): boolean;
  /**
   * Continues a suspended session. A second call changes nothing. `revive` is absent if the session is never suspended.
   */
  revive?(): void;
  /**
   * Sends a message to the agent in the open turn. The signal `steered` confirms it; without that the agent did not
   * receive it. A repeated `id` has no effect. Absent for sessions that cannot.
   */
  steer?(turn: number, id: string, text: string): Promise<void>;
  /**
   * Asks the agent to stop the open turn. Has no effect on a turn that is over, was not delivered or is interrupted
   * already. An agent that ignores the interrupt keeps running. The turn number is used up: continue with the next one.
   */
  interrupt(turn: number): Promise<void>;
  /** Closes the agent's stdin and kills its process tree after a grace period. Call `SessionHost.end` afterwards. */
  close(): Promise<void>;
  /** Kills the whole process tree. */
  stop(): Promise<void>;
  /** Ends `signals`. The session keeps running under its keeper. */
  leave(): void;
}

export interface SessionHost {
  /** Empty for an unknown session. Works on sessions that are over or archived. */
  transcript(runId: string, sessionId: string, page?: TranscriptPage): Promise<TranscriptEntry[]>;
  /**
   * `open` with the same `spec` follows when the workspace is prepared. A host on another machine does both with one
   * request.
   */
  announce?(spec: Omit<SessionSpec, "cwd" | "sandbox">): void;
  /** Starts the session, or adopts it if it was started before, even if it has ended. Never starts one id twice. */
  open(spec: SessionSpec): Session;
  /** Call `expect` when a session will be opened soon, and the returned function when it is over or is not opened. */
  expect?(): () => void;
  /**
   * Starts the agent of a session that will probably be opened; it waits for its first turn. Returns false if none is
   * started now. `claim` continues or ends it, `end`, `reap` and the end of this process end it, and nothing of it stays.
   * Without `warm` every session starts with `open`.
   */
  warm?(spec: SessionSpec): boolean;
  /**
   * Call `claim` before `open` for a session that may be warm. It becomes the session that `open` adopts if `isCurrent`
   * and if it was started with the same `spec`. Otherwise it is ended, and `open` starts another one.
   */
  claim?(spec: SessionSpec, isCurrent: boolean): Promise<boolean>;
  /** Ends all sessions of the run except `keep`, and waits until their processes are gone. */
  reap(runId: string, keep: readonly string[]): Promise<void>;
  /** Ends one session, opened here or not, and waits until its processes are gone. */
  end(runId: string, sessionId: string): Promise<void>;
  /** Packs the files of a session; the transcript stays readable. Throws `wrong_state` while the session is alive. */
  archive(runId: string, sessionId: string): Promise<void>;
  isArchived(runId: string, sessionId: string): boolean;
  /** Deletes all sessions of the run. Throws `wrong_state` while one of them is alive. */
  forget(runId: string): Promise<void>;
  hasRun(runId: string): boolean;
  /**
   * The agent behind a name from the user's configuration, or the name itself. Without `resolveAgent` there are no such
   * names.
   */
  resolveAgent?(agent: string): string;
  /** The names that `resolveAgent` knows. */
  agentNames?(): string[];
  /**
   * The reason why sessions cannot have a sandbox, or null. Without `findSandboxProblem` the host runs no processes on
   * this machine.
   */
  findSandboxProblem?(): Promise<string | null>;
  /** Whether sessions of the agent cannot call the tools of Tutti. Without `lacksTools` all can. */
  lacksTools?(agent: string): boolean;
  /** Throws `agent_unknown`, `agent_not_startable` or `invalid_scenario` if the agent cannot be used. */
  check(agent: string, cwd: string): void;
}
