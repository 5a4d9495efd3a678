// What can be asked of a run. Some commands come from people, the others are reports of the engine about sessions and
// workspaces; all of them are judged by `decide`, and none of them is stored: the log holds only what followed.
import type { Answer } from "../schema/answer.ts";
import type { Budget } from "../schema/budget.ts";
import type { Trouble } from "./provider.ts";
import type { Ending } from "../schema/ending.ts";
import type { Idempotency, RunEvent } from "../schema/event.ts";
import type { PersonAnswer } from "../schema/inbox.ts";
import type { Conflict, Usage } from "../schema/outcome.ts";
import type { Task } from "../schema/task.ts";
import type { Template } from "../schema/template.ts";
import type { KnownResult } from "./reuse.ts";
import type { ToolStats } from "../schema/worker.ts";

/** What a person changes in a plan before it is carried out. */
export interface PlanChanges {
  /** By task id. A task that is left out is either taken as done (`satisfied`) or blocks what depends on it. */
  tasks?: Record<string, TaskChange>;
  added?: Task[];
  removed?: string[];
  budget?: Budget;
}

export interface TaskChange extends Partial<Omit<Task, "id">> {
  skip?: boolean;
  satisfied?: boolean;
}

/** From a person. */
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
      idempotency?: Idempotency;
    }
  | { type: "start"; base: string; warnings: string[] }
  | { type: "confirm"; changes?: PlanChanges; hash?: string }
  | { type: "requestChanges"; text: string }
  | { type: "pause" }
  | { type: "resume" }
  | { type: "cancel" }
  | { type: "pauseWorker"; sessionId: string }
  | { type: "resumeWorker"; sessionId: string }
  | { type: "cancelWorker"; sessionId: string }
  | { type: "retry"; taskId: string }
  /** To the worker of a task, or to the main session. */
  | { type: "message"; taskId: string | null; text: string }
  | { type: "answer"; itemId: string; answer: PersonAnswer }
  | { type: "decide"; decisions: { index: number; option?: number | undefined; text?: string | undefined }[] }
  /** What a main session failed to answer, given by a person. */
  | { type: "supply"; itemId: string; answer: Answer }
  /** The answer to what the main session owes now, or failed to give. */
  | { type: "respond"; answer: Answer };

/** From the engine, about what it saw or did. A report about a session that no longer counts has no effect. */
export type Report =
  | { type: "spawnMain" }
  | { type: "spawn"; taskId: string }
  | { type: "ready"; sessionId: string; start: string; key?: string }
  /** What the attempt is about has been done before; `work` is that result as work of this attempt. */
  | { type: "known"; sessionId: string; key: string; result: KnownResult; work: { commit: string; files: string[] } }
  | { type: "unpreparable"; sessionId: string; code: string; error: string }
  | { type: "turnOver"; sessionId: string; turn: number; over: TurnOver }
  | { type: "lost"; sessionId: string; reason: string; counted: boolean }
  | { type: "expired"; sessionId: string }
  /** It has said and done nothing for this long. */
  | { type: "idle"; sessionId: string; forMs: number }
  | {
      type: "asked";
      sessionId: string;
      askId: string;
      itemId: string;
      question: string;
      options?: string[];
      /** The tool that it wants to use, if that is the question. */
      permission?: { tool: string; subject: string };
    }
  /** Its provider refused, and it goes on trying by itself. */
  | ({ type: "troubled"; sessionId: string } & Trouble)
  /** It no longer wants to know. */
  | { type: "unasked"; sessionId: string; askId: string }
  | { type: "merged"; taskId: string; commit: string; head: string; conflict?: Conflict }
  | { type: "conflicted"; taskId: string; commit: string; conflict: Conflict }
  /** A session ended in the middle of a turn that had used something. */
  | { type: "abandoned"; sessionId: string; taskId: string | null; usage: Usage; toolStats: ToolStats }
  /** What turns that are still open have used so far. */
  | { type: "spending"; usage: Usage }
  /** Time has passed; something may be due. */
  | { type: "tick" }
  | { type: "clockJumped"; byMs: number }
  | { type: "fault"; operation: string; error: string; code: string }
  /** Something went wrong beside the run's own work, e.g. tidying up; it is recorded and ends nothing. */
  | { type: "mishap"; operation: string; error: string; code: string }
  | { type: "hookStarted"; hook: HookReport }
  | { type: "hookEnded"; hook: HookReport; ok: boolean; detail: string; durationMs: number; pause: boolean }
  /** Something that the engine did for a person, to be recorded as it is. */
  | { type: "told"; event: RunEvent }
  | { type: "released" };

export interface HookReport {
  name: Extract<RunEvent, { type: "hook:started" }>["data"]["hook"];
  cause: number;
  run: string;
}

export type Command = Order | Report;

/** The end of a turn, with what its text, its tools and its workspace show. */
export interface TurnOver {
  ending: Ending;
  /** The block that counts, or null when there is none. */
  answer: Answer | null;
  problems: string[];
  said: string | null;
  /** The question that it ended with instead of an answer. */
  question: string | null;
  guess: { phase: string; confidence: number } | null;
  /** A name for the inbox item, should one be needed. */
  itemId: string;
  toolStats: ToolStats;
  usage: Usage;
  /** What the workspace holds. `head` is where the run's branch points after main-session work was taken into it. */
  work: { commit: string; files: string[]; head: string | null } | null;
  /** What tasks of this kind have taken before, for the estimate of a plan. */
  history?: History;
}

/** Averages over the tasks that completed before, with as many as there were. */
export interface History {
  samples: number;
  msPerTask: number;
  usdPerTask: number;
  tokensPerTask: number;
  /** What tasks of the same title took in the same repository. */
  msByTitle: Record<string, number>;
}
