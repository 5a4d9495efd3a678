import { translate } from "../text/language.ts";
import { taskLook } from "../run/task-look.ts";
import { WorkerActions } from "../workers/worker-actions.tsx";
import type { Run } from "../../../tutti/src/schema/run.ts";
import type { Task } from "../../../tutti/src/schema/task.ts";
import { Badge } from "../parts/badge.tsx";
import { Notice } from "../parts/notice.tsx";
import { AgentText } from "../text/agent-text.tsx";
import { AgentQuote } from "../text/agent-words.tsx";
import { FailureText } from "../text/failure-text.tsx";
import { LongText } from "../text/long-text.tsx";

interface Properties {
  run: Run;
  task: Task;
  hasDescription: boolean;
}

export function TaskDetails({ run, task, hasDescription }: Properties) {
  const look = taskLook(run, task);
  const worker = run.workers[task.id];
  const blocked = run.blocked[task.id];
  return (
    <div className="task-details">
      <div className="task-details-line">
        <Badge tone={look.tone} icon={look.icon}>
          {look.word}
        </Badge>
        {task.dependencies.length > 0 && (
          <span className="muted">
            {translate("after")} <AgentText text={task.dependencies.join(", ")} max={200} />
          </span>
        )}
        {worker && <WorkerActions run={run} worker={worker} />}
      </div>
      {hasDescription && (
        <AgentQuote>
          <LongText text={task.description} max={600} />
        </AgentQuote>
      )}
      {worker?.error && (
        <Notice tone="bad">
          <FailureText error={worker.error} code={worker.errorCode} max={1000} />
        </Notice>
      )}
      {blocked && (
        <Notice tone="warning">
          {translate("This task cannot start. It is blocked by {tasks}.", { tasks: blocked.join(", ") })}
        </Notice>
      )}
    </div>
  );
}
