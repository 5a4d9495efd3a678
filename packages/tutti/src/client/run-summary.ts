// A run in a list: enough to find it again, and to see whether it needs somebody.
import type { Phase, RunStatus } from "../schema/status.ts";

export interface RunSummary {
  id: string;
  status: RunStatus;
  currentPhase: Phase | null;
  templateId: string;
  cwd: string;
  userRequest: string;
  agent: string;
  taskCount: number;
  completedTasks: number;
  createdAt: number;
  updatedAt: number;
  startedAt: number | null;
  completedAt: number | null;
}
