// A worker: the newest attempt at one task, as the log tells it.
import { z } from "zod";
import type { Phase, WorkerStatus } from "./status.ts";
import type { Usage } from "./outcome.ts";
import type { Task } from "./task.ts";

export const ToolStats = z.object({
  total: z.number(),
  reads: z.number(),
  writes: z.number(),
  edits: z.number(),
  bash: z.number(),
  search: z.number(),
  web: z.number(),
  task: z.number(),
  /** The two kinds of search that runs count apart; both are in `search` too. */
  glob: z.number().default(0),
  grep: z.number().default(0),
});
export type ToolStats = z.infer<typeof ToolStats>;
export const NO_TOOLS: ToolStats = {
  total: 0,
  reads: 0,
  writes: 0,
  edits: 0,
  bash: 0,
  search: 0,
  web: 0,
  task: 0,
  glob: 0,
  grep: 0,
};

/** The attempt that brought a result, in the log of the run that made it. */
export const Origin = z.object({ run: z.string(), taskId: z.string(), sessionId: z.string() });
export type Origin = z.infer<typeof Origin>;

/** What a session still has to answer. */
export interface Owed {
  phase: Phase;
  /** 1 for the first asking; a turn without a usable answer is asked again. */
  try: number;
  /** What was wrong with the previous answer, for the next prompt. */
  problems: string[];
  /** What the session is told besides: what the person wants changed, what was decided. */
  note: string | null;
  /** Whether the session had begun and was paused: what it had done by then is still there. */
  interrupted: boolean;
  /** The item in the inbox whose answer is needed before it is asked again. */
  waitsFor: string | null;
}

/** A prompt that was sent and whose answer is not judged yet. */
export interface OpenTurn {
  /** Counts within the session, from 1; the prompt is delivered at most once under this number. */
  number: number;
  phase: Phase;
  try: number;
  startedAt: number;
}

/** One agent at work on one attempt: the part that main session and workers have in common. */
export interface SessionState {
  sessionId: string;
  attempt: number;
  agent: string;
  role: string;
  /** `spawning` until its process is there, `running` until it is no longer needed or gone. */
  state: "spawning" | "running" | "over";
  turns: number;
  turn: OpenTurn | null;
  /** The commit its workspace was cut from. */
  start: string | null;
  /** How long it has waited for a person; its timeouts stand still meanwhile. */
  waitedMs: number;
  /** Since when it is paused; its timeouts stand still. */
  pausedAt: number | null;
  /** Since when it waits for its provider to answer again; its timeouts stand still. */
  refusedSince: number | null;
  /** Its questions by the names it gave them, with the answers once they are there. */
  asks: Record<string, string | null>;
}

export interface Worker {
  sessionId: string;
  orchestratorId: string;
  taskId: string;
  task: Task;
  status: WorkerStatus;
  attempt: number;
  session: SessionState;
  owed: Owed | null;
  progress: number;
  currentAction: string | null;
  /** Counted live, for showing. */
  toolStats: ToolStats;
  /** Tool calls in turns that have ended: evidence of work. */
  endedTools: ToolStats;
  usage: Usage;
  output: unknown;
  outputFiles: string[];
  outputPreview: string | null;
  error: string | null;
  /** What kind of error, for policy. */
  errorCode: string | null;
  /** Whether the worker itself called its result partial. */
  partial: boolean;
  retryCount: number;
  /** Before this moment the next attempt does not start. */
  notBefore: number | null;
  pausedBy: "person" | "run" | null;
  /** Attempts in a row whose session vanished; each is run again, up to a limit. */
  losses: number;
  /** Whether a person wants it done anew: no known result will do. */
  anew: boolean;
  /** Where its result was made, if not by a session of its own. */
  reused: Origin | null;
  /** The commit that holds its accepted work. */
  commit: string | null;
  /** What became of that commit in the run's branch. */
  merged: "not yet" | "merged" | "conflict";
  startedAt: number | null;
  completedAt: number | null;
  lastActivityAt: number | null;
}
