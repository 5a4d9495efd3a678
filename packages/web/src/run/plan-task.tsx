import type { Task } from "../../../tutti/src/schema/task.ts";
import { AgentText } from "../text/agent-text.tsx";

const MOST = 6;

export function PlanTask({ task }: { task: Task }) {
  return (
    <li className="plan-task">
      <span className="plan-task-id mono">{task.id}</span>
      <div className="plan-task-what">
        <strong>
          <AgentText text={task.title} max={160} />
        </strong>
        <p>
          <AgentText text={task.description} max={400} />
        </p>
      </div>
      <div className="plan-task-needs">
        {task.dependencies.length === 0 ? (
          <span className="muted">starts at once</span>
        ) : (
          <>
            <span className="muted">after </span>
            {task.dependencies.slice(0, MOST).map((id) => (
              <code key={id}>{id}</code>
            ))}
            {task.dependencies.length > MOST && (
              <span className="muted">and {task.dependencies.length - MOST} more</span>
            )}
          </>
        )}
      </div>
    </li>
  );
}
