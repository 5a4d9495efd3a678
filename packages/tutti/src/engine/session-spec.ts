import { delegationRight } from "../run/team/delegation.ts";
import type { Run } from "../schema/run.ts";
import type { Task } from "../schema/task.ts";
import type { SessionSpec } from "../session/session.ts";

interface SessionFacts extends Pick<SessionSpec, "sessionId" | "taskId" | "attempt" | "agent" | "role"> {
  model: string | undefined;
  /** Null for the main session. */
  task: Task | null;
}

/** The same facts give the same spec, before the session starts and when it does: a warm session depends on that. */
export function sessionSpec(
  run: Run,
  { sessionId, taskId, attempt, agent, role, model, task }: SessionFacts,
  openSecrets: <T>(value: T) => T,
): Omit<SessionSpec, "cwd" | "sandbox"> {
  return {
    sessionId,
    runId: run.id,
    role,
    taskId,
    delegation: delegationRight(run, taskId === null || task === null ? null : { taskId, task }),
    attempt,
    agent: openSecrets(agent),
    ...(model === undefined ? {} : { model }),
    permissions: openSecrets(run.template.config.permissions),
    subagentDepth: run.budget.depth,
    stallTimeout: run.template.config.stallTimeout,
  };
}
