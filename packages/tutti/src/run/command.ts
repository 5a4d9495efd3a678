// What can be asked of a run. Some commands come from people, the others are reports of the engine about sessions and
// workspaces; all of them are judged by `decide`, and none of them is stored: the log holds only what followed.
import type { Answer } from "../schema/answer.ts";
import type { Ending, RunEvent } from "../schema/event.ts";
import type { Conflict, Usage } from "../schema/outcome.ts";
import type { Template } from "../schema/template.ts";
import type { ToolStats } from "../schema/worker.ts";

/** From a person. */
export type Order =
  | {
      type: "create";
      id: string;
      templateId: string;
      template: Template;
      cwd: string;
      message: string;
      customVariables: Record<string, string>;
      agent: string;
    }
  | { type: "start"; base: string; warnings: string[] }
  | { type: "confirm" }
  | { type: "cancel" }
  | { type: "answer"; itemId: string; text: string }
  /** What a main session failed to answer, given by a person. */
  | { type: "supply"; itemId: string; answer: Answer };

/** From the engine, about what it saw or did. A report about a session that no longer counts has no effect. */
export type Report =
  | { type: "spawnMain" }
  | { type: "spawn"; taskId: string }
  | { type: "ready"; sessionId: string; start: string }
  | { type: "unpreparable"; sessionId: string; code: string; error: string }
  | { type: "turnOver"; sessionId: string; turn: number; over: TurnOver }
  | { type: "lost"; sessionId: string; reason: string; counted: boolean }
  | { type: "expired"; sessionId: string }
  | { type: "asked"; sessionId: string; askId: string; itemId: string; question: string; options?: string[] }
  | { type: "merged"; taskId: string; commit: string; head: string }
  | { type: "conflicted"; taskId: string; commit: string; conflict: Conflict }
  | { type: "fault"; operation: string; error: string; code: string }
  /** Something went wrong beside the run's own work, e.g. tidying up; it is recorded and ends nothing. */
  | { type: "mishap"; operation: string; error: string; code: string }
  | { type: "told"; event: RunEvent }
  | { type: "released" };

export type Command = Order | Report;

/** The end of a turn, with what its text, its tools and its workspace show. */
export interface TurnOver {
  ending: Ending;
  /** The block that counts, or null when there is none. */
  answer: Answer | null;
  problems: string[];
  said: string | null;
  guess: { phase: string; confidence: number } | null;
  /** A name for the inbox item, should one be needed. */
  itemId: string;
  toolStats: ToolStats;
  usage: Usage;
  /** What the workspace holds. `head` is where the run's branch points after main-session work was taken into it. */
  work: { commit: string; files: string[]; head: string | null } | null;
}
