// The commands of a run: an `Order` comes from the user, a `Report` from the engine. `decide` turns commands into events.
// The log stores only the events.
import type { Answer } from "../schema/answer.ts";
import type { Budget } from "../schema/budget.ts";
import type { Trouble } from "./provider/provider.ts";
import type { Ending } from "../schema/ending.ts";
import type { EventData, Idempotency, RunEvent } from "../schema/event.ts";
import type { PersonAnswer } from "../schema/inbox.ts";
import type {
  CheckedCommand,
  Conflict,
  ContextSize,
  FollowedRun,
  MovedRef,
  UnprovenFiles,
  Usage,
  UsedName,
} from "../schema/outcome.ts";
import type { SubagentEnd } from "../schema/status.ts";
import type { HostLabels, Task } from "../schema/task.ts";
import type { AgentQuestion } from "../schema/transcript.ts";
import type { Template } from "../schema/template.ts";
import type { KnownResult } from "./rules/reuse.ts";
import type { MailPaths } from "./team/mailbox-message.ts";
import type { ToolStats } from "../schema/worker.ts";
import type { SandboxState } from "../schema/agent/sandbox.ts";

export interface PlanChanges {
  /** By task id. */
  tasks?: Record<string, TaskChange>;
  added?: Task[];
  removed?: string[];
  budget?: Budget;
}

/** A skipped task blocks its dependents unless it is `satisfied`. */
export interface TaskChange extends Partial<Omit<Task, "id" | "agent" | "model">> {
  skip?: boolean;
  satisfied?: boolean;
  /** Null removes the agent of the plan. Another agent removes the `model` of the plan. */
  agent?: string | null;
  model?: string | null;
}

export type Order =
  | {
      type: "create";
      id: string;
      templateId: string;
      template: Template;
      cwd: string;
      message: string;
      customVariables: Record<string, unknown>;
      agent: string;
      providers?: Record<string, string>;
      assignableAgents?: string[];
      follows?: FollowedRun;
      scope?: string[];
      sandbox?: SandboxState;
      idempotency?: Idempotency;
    }
  | { type: "start"; base: string; warnings: string[] }
  | { type: "confirm"; changes?: PlanChanges; hash?: string }
  | { type: "edit"; changes: PlanChanges; hash?: string }
  | { type: "confirmAhead" }
  | { type: "requestChanges"; text: string }
  | { type: "pause" }
  | { type: "resume" }
  | { type: "cancel" }
  | { type: "pauseWorker"; sessionId: string }
  | { type: "resumeWorker"; sessionId: string }
  | { type: "cancelWorker"; sessionId: string }
  /** `taskId` is null for the phase that the main session did not complete. */
  | { type: "retry"; taskId: string | null }
  /** `taskId` is null for the main session. */
  /** `from` is the sub-session that has this message as its result. */
  | { type: "message"; taskId: string | null; text: string; now?: boolean; from?: string }
  | { type: "answer"; itemId: string; answer: PersonAnswer }
  | { type: "decide"; decisions: { index: number; option?: number | undefined; text?: string | undefined }[] }
  /** `Answer` of a phase that the main session failed to give. */
  | { type: "supply"; itemId: string; answer: Answer }
  /** `Answer` in place of the main session, which owes it now or failed to give it. */
  | { type: "respond"; answer: Answer }
  /** `by` is the user who opens the gate without an approval. */
  | { type: "overrideGate"; environment: string; by: string; reason: string };

/** An observation or action of the engine. A `Report` about an outdated session has no effect. */
export type Report =
  | { type: "spawnMain" }
  | { type: "spawn"; taskId: string }
  /** `mail` is set for a role that works on the mailbox. */
  | { type: "ready"; sessionId: string; start: string; key?: string; mail?: MailPaths }
  /** An earlier attempt with the same work key has a result. `work` is that result as a commit of this attempt. */
  | { type: "known"; sessionId: string; key: string; result: KnownResult; work: { commit: string; files: string[] } }
  | { type: "unpreparable"; sessionId: string; code: string; error: string }
  /** No worker host offers `labels`. A repeated report has no effect. */
  | { type: "unplaced"; sessionId: string; labels: HostLabels }
  | { type: "turnOver"; sessionId: string; turn: number; over: TurnOver }
  | { type: "lost"; sessionId: string; reason: string; counted: boolean }
  | { type: "expired"; sessionId: string }
  /** The session showed no activity for `forMs`. */
  | { type: "idle"; sessionId: string; forMs: number }
  | ({ type: "asked"; sessionId: string; askId: string; itemId: string } & AgentQuestion)
  /** Like a refusal in an `Ending`, but the agent retries by itself. */
  | ({ type: "troubled"; sessionId: string } & Trouble)
  /** The agent received a message during its turn; `message` is its position in `run.messages`. */
  | { type: "steered"; sessionId: string; message: number }
  /** The role acknowledged the message to `sessionId`. A repeated report has no effect. */
  | { type: "acknowledged"; sessionId: string }
  /** The session withdrew the question `askId`. */
  | { type: "unasked"; sessionId: string; askId: string }
  | { type: "merged"; taskId: string; commit: string; head: string; conflict?: Conflict }
  /** `head` holds the work of the task, except for its side of the conflict. */
  | { type: "conflicted"; taskId: string; commit: string; head: string; conflict: Conflict }
  /** The commands for merges ran in `commit`, the run's branch with the work of `tasks`. */
  | { type: "mergeChecked"; tasks: string[]; commit: string; commands: CheckedCommand[] }
  /** `commands` pass on `head` and fail on `start`, which adds the work of the task. */
  | { type: "mergeRejected"; taskId: string; commit: string; head: string; start: string; commands: CheckedCommand[] }
  /** The saved work of two tasks conflicts in `files`, or no longer does. */
  | { type: "emerging"; tasks: [string, string]; files: string[] }
  /** `UsedName`s that one task changed and another one uses, in the work of `head`. */
  | { type: "namesUsed"; head: string; names: UsedName[] }
  | { type: "refMoved"; moved: MovedRef }
  /** The verification commands start, or have run, in the merged tree of `commit`. */
  | { type: "checking"; sessionId: string; commit: string }
  | { type: "checked"; sessionId: string; commit: string; commands: CheckedCommand[] }
  /** A session ended in the middle of a turn; `usage` and `toolStats` are those of the turn. */
  | { type: "abandoned"; sessionId: string; taskId: string | null; usage: Usage; toolStats: ToolStats }
  /** The agent of `sessionId` started or ended an agent of its own. A repeated report has no effect. */
  | { type: "subagent"; sessionId: string; taskId: string | null; subagent: SubagentReport }
  /** `usage` of all open turns so far. */
  | { type: "spending"; usage: Usage }
  | { type: "tick" }
  | { type: "clockJumped"; byMs: number }
  | { type: "fault"; operation: string; error: string; code: string }
  /** The machine does not allow the work for now. `output` is the complete text of the program that failed. */
  | { type: "environment"; error: string; output?: string | undefined }
  /** An error outside the run's own work, for example during cleanup. Unlike `fault` it does not end the run. */
  | { type: "mishap"; operation: string; error: string; code: string }
  | { type: "hookStarted"; hook: HookReport }
  | { type: "hookEnded"; hook: HookReport; ok: boolean; detail: string; durationMs: number; pause: boolean }
  /** `event` is appended unchanged, without a rule that could reject it. */
  | { type: "record"; event: RecordedEvent }
  | { type: "released" };

/** A `RecordedEvent` changes nothing that `decide` or `schedule` reads. Any other event must come from `decide`. */
export type RecordedEvent = Extract<
  RunEvent,
  {
    type:
      | "worker:progress"
      | "orchestrator:progress"
      | "orchestrator:toolsCounted"
      | "orchestrator:cleanup"
      | "gate:refused"
      | "protocol:ignored"
      | "repository:changed"
      | "result:merged"
      | "result:dropped"
      | "workers:archived"
      | "workers:deleted"
      | "worker:stopped"
      | "workspace:saved";
  }
>;

export interface SubagentReport {
  childSessionId: string;
  phase: "started" | "done";
  text: string | null;
  taskToolId: string | null;
  /** The sub-session that started it, or null if `sessionId` did. */
  parentSessionId: string | null;
  /** Read only with `done`. */
  status: SubagentEnd;
  /** True if it was registered with Tutti and does not end with the session. */
  registered?: true;
}

export interface HookReport {
  name: EventData<"hook:started">["hook"];
  cause: number;
  run: string;
}

export type Command = Order | Report;

/** The end of a turn, with the evaluation of its text, tool calls and workspace. */
export interface TurnOver {
  ending: Ending;
  /** Null if no block of the turn is a valid `Answer`. */
  answer: Answer | null;
  problems: string[];
  said: string | null;
  question: string | null;
  guess: { phase: string; confidence: number } | null;
  /** Id for the `InboxItem` that this report may create. */
  itemId: string;
  toolStats: ToolStats;
  usage: Usage;
  /** Set for a main session that delegates. */
  context?: ContextSize;
  /** Commit and changed files of the workspace. `head` is the run's branch after the main session's work was merged. */
  work: {
    commit: string;
    files: string[];
    head: string | null;
    unproven?: UnprovenFiles;
    /** Changes outside the run's scope. They stay out of `commit`. */
    outside?: string[];
    /** Files that the parent of a delegated task expects and that do not exist. */
    absent?: string[];
    /** Changes of a role that may only read. They stay out of `commit`. */
    discarded?: string[];
  } | null;
  /** True if `answer` has no block: it is the last message of a session in natural mode. */
  inWords?: boolean;
  /** Lenient interpretations of `answer` that the user should know. */
  warnings?: string[];
  /** Messages of a role that speaks messages, in the order of the text. */
  messages?: ReadMessage[];
  /** Whether a role that works on the mailbox has marked the message to it as read. */
  hasRead?: boolean;
  /** Set if the turn ended because its session was suspended. */
  cutOff?: CutOff;
  history?: History;
}

/** A message that an agent wrote. Its `body` is a claim; the channel identifies the session that wrote it. */
export interface ReadMessage {
  /** `message_type`; `UNREADABLE` for a text that looks like a message and is none. */
  type: string;
  body: Record<string, unknown>;
  /** Whether the text is JSON without any repair and without a repeated member. */
  exact: boolean;
  /** Why the message has no effect; empty if it counts. */
  reasons: string[];
  /** Why a completion must be sent back; empty if it may be accepted. */
  faults: string[];
}

export type CutOff = NonNullable<EventData<"turn:ended">["cutOff"]>;

/** Averages over `samples` completed tasks of earlier runs. */
export interface History {
  samples: number;
  msPerTask: number;
  usdPerTask: number;
  tokensPerTask: number;
  /** Duration of the newest task by title, within the same repository. */
  msByTitle: Record<string, number>;
}
