import { useId } from "react";
import { dependentsOf, editOf, type PlanEdits, type TaskEdit } from "./plan-edits.ts";
import type { Task } from "../../../../tutti/src/schema/task.ts";
import { AgentText } from "../../text/agent-text.tsx";

const MOST = 6;

interface Properties {
  task: Task;
  tasks: readonly Task[];
  edits: PlanEdits;
  /** Undefined for an invalid plan, which no edit makes valid. */
  onEdit?: ((edit: TaskEdit) => void) | undefined;
}

export function PlanTask({ task, tasks, edits, onEdit }: Properties) {
  const { skip = false } = editOf(edits, task.id);
  return (
    <li className={`plan-task${skip ? " is-skipped" : ""}`}>
      <span className="plan-task-id mono">{task.id}</span>
      <div className="plan-task-what">
        <strong>
          <AgentText text={task.title} max={160} />
        </strong>
        <p>
          <AgentText text={task.description} max={400} />
        </p>
      </div>
      {(task.agent ?? task.model) !== undefined && (
        <span className="muted">
          by <AgentText text={[task.agent, task.model].filter(Boolean).join(" ")} max={80} />
        </span>
      )}
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
      {onEdit && <TaskControls task={task} tasks={tasks} edits={edits} onEdit={onEdit} />}
    </li>
  );
}

function TaskControls({ task, tasks, edits, onEdit }: Properties & { onEdit: (edit: TaskEdit) => void }) {
  const field = useId();
  const edit = editOf(edits, task.id);
  const dependents = edit.skip ? dependentsOf(tasks, edits, task.id) : [];
  return (
    <div className="plan-task-edit">
      <label htmlFor={`${field}-priority`}>
        Priority<span className="visually-hidden">{` of ${task.id}`}</span>
      </label>
      <input
        id={`${field}-priority`}
        type="number"
        min={1}
        max={10}
        step={1}
        title="1 is the most urgent"
        disabled={edit.skip}
        value={edit.priority ?? task.priority}
        onChange={({ target }) => {
          const priority = target.valueAsNumber;
          if (priority >= 1 && priority <= 10) onEdit({ ...edit, priority });
        }}
      />
      <label>
        <input
          type="checkbox"
          checked={edit.skip ?? false}
          onChange={({ target }) => onEdit({ ...edit, skip: target.checked })}
        />
        Skip<span className="visually-hidden">{` ${task.id}`}</span>
      </label>
      {dependents.length > 0 && (
        <label className="plan-task-satisfied">
          <input
            type="checkbox"
            checked={edit.satisfied ?? false}
            onChange={({ target }) => onEdit({ ...edit, satisfied: target.checked })}
          />
          {`${dependents.join(", ")} may start without it`}
        </label>
      )}
    </div>
  );
}
