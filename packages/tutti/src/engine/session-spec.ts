import { delegationRight } from "../run/team/delegation.ts";
import type { Run } from "../schema/run.ts";
import type { Task } from "../schema/task.ts";
import type { SessionSpec } from "../session/session.ts";

interface SessionFacts extends Pick<SessionSpec, "sessionId" | "taskId" | "attempt" | "agent" | "role"> {
  model: string | undefined;
  /** Null for the main session. */
  task: Task | null;
}

/** Returns the same spec for the same facts: a warm session is claimed only if its spec has not changed. */
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
