// Runs as the server tells them. Times are ISO strings on the wire.
import type { InboxItem } from "../schema/inbox.ts";
import type { Verdict } from "../schema/outcome.ts";
import type { Phase, RunStatus } from "../schema/status.ts";

/** A run in a list: enough to find it again. */
export interface RunSummary {
  id: string;
  status: RunStatus;
  currentPhase: Phase | null;
  templateId: string;
  cwd: string;
  userRequest: string;
  agent: string;
  outcome: Verdict | null;
  taskCount: number;
  completedTasks: number;
  createdAt: string;
  updatedAt: string;
  startedAt: string | null;
  completedAt: string | null;
}

/** A whole run under the names of document 004; whoever needs more of it than this says how it reads it. */
export type RunState = Omit<RunSummary, "taskCount" | "completedTasks"> & Record<string, unknown>;

/** Something that waits for a person; `hash` stands for what was shown. */
export type WaitingItem = Omit<InboxItem, "createdAt"> & { createdAt: string; hash: string; evidence?: unknown };
