import { translate } from "../../text/language.ts";
import { useId, useState } from "react";
import { labelLines } from "./compare-plans.ts";
import { dependentsOf, editOf, type PlanEdits, type TaskEdit } from "./plan-edits.ts";
import type { Task } from "../../../../tutti/src/schema/task.ts";
import { AgentWords } from "../../text/agent-words.tsx";
import { shown } from "../../text/safe-text.ts";

const MOST = 6;

interface Properties {
  /** With its `edits`. */
  task: Task;
  /** All tasks of the plan, with their `edits`. */
  tasks: readonly Task[];
  edits: PlanEdits;
  /** Undefined for an invalid plan, which no edit makes valid. */
  onEdit?: ((edit: TaskEdit) => void) | undefined;
  onRemove: () => void;
}

export function PlanTask({ task, tasks, edits, onEdit, onRemove }: Properties) {
  const { skip = false } = editOf(edits, task.id);
  const [isOpen, setOpen] = useState(edits.added.includes(task.id));
  return (
    <li className={`plan-task${skip ? " is-skipped" : ""}`}>
      <span className="plan-task-id mono">{task.id}</span>
      <div className="plan-task-what">
        <strong>
          <AgentWords text={task.title} max={160} />
        </strong>
        <p>
          <AgentWords text={task.description} max={400} />
        </p>
        {labelLines(task.labels).length > 0 && (
          <span className="muted">
            {translate("on a host with")} <AgentWords text={labelLines(task.labels).join(", ")} max={120} />
          </span>
        )}
        {(task.agent ?? task.model) !== undefined && (
          <span className="muted">
            {translate("by")} <AgentWords text={[task.agent, task.model].filter(Boolean).join(" ")} max={80} />
          </span>
        )}
      </div>
      <div className="plan-task-needs">
        {task.dependencies.length === 0 ? (
          <span className="muted">{translate("starts at once")}</span>
        ) : (
          <>
            <span className="muted">{translate("after")} </span>
            {task.dependencies.slice(0, MOST).map((id) => (
              <code key={id}>{shown(id, 100)}</code>
            ))}
            {task.dependencies.length > MOST && (
              <span className="muted">{translate("and {count} more", { count: task.dependencies.length - MOST })}</span>
            )}
          </>
        )}
      </div>
      {onEdit && (
        <>
          <TaskControls task={task} tasks={tasks} edits={edits} onEdit={onEdit} isOpen={isOpen} onOpen={setOpen} />
          {isOpen && <TaskFields task={task} tasks={tasks} edits={edits} onEdit={onEdit} onRemove={onRemove} />}
        </>
      )}
    </li>
  );
}

interface ControlProperties extends Omit<Properties, "onRemove"> {
  onEdit: (edit: TaskEdit) => void;
  isOpen: boolean;
  onOpen: (isOpen: boolean) => void;
}

function TaskControls({ task, tasks, edits, onEdit, isOpen, onOpen }: ControlProperties) {
  const field = useId();
  const edit = editOf(edits, task.id);
  const dependents = edit.skip ? dependentsOf(tasks, edits, task.id) : [];
  return (
    <div className="plan-task-edit">
      <label htmlFor={`${field}-priority`}>
        {translate("Priority")}
        <span className="visually-hidden">{translate(" of {id}", { id: task.id })}</span>
      </label>
      <input
        id={`${field}-priority`}
        type="number"
        min={1}
        max={10}
        step={1}
        title={translate("1 is the most urgent")}
        disabled={edit.skip}
        value={task.priority}
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
        {translate("Skip")}
        <span className="visually-hidden">{` ${task.id}`}</span>
      </label>
      <button
        type="button"
        className="button is-small"
        aria-expanded={isOpen}
        aria-label={translate("Edit {id}", { id: task.id })}
        onClick={() => onOpen(!isOpen)}
      >
        {translate("Edit")}
      </button>
      {dependents.length > 0 && (
        <label className="plan-task-satisfied">
          <input
            type="checkbox"
            checked={edit.satisfied ?? false}
            onChange={({ target }) => onEdit({ ...edit, satisfied: target.checked })}
          />
          {translate("{tasks} may start without it", { tasks: dependents.join(", ") })}
        </label>
      )}
    </div>
  );
}

/** The members that `TaskControls` does not have. */
function TaskFields({ task, tasks, edits, onEdit, onRemove }: Properties & { onEdit: (edit: TaskEdit) => void }) {
  const field = useId();
  const edit = editOf(edits, task.id);
  const lines = (text: string) => text.split("\n").filter((line) => line.trim() !== "");
  return (
    <fieldset className="plan-fields">
      <legend className="visually-hidden">{translate("Edit {id}", { id: task.id })}</legend>
      <label htmlFor={`${field}-title`}>{translate("Title")}</label>
      <input
        id={`${field}-title`}
        className="field"
        value={task.title}
        onChange={({ target }) => onEdit({ ...edit, title: target.value })}
      />
      <label htmlFor={`${field}-description`}>{translate("Description")}</label>
      <textarea
        id={`${field}-description`}
        className="field"
        rows={4}
        value={task.description}
        onChange={({ target }) => onEdit({ ...edit, description: target.value })}
      />
      <label htmlFor={`${field}-scope`}>{translate("Files, one per line")}</label>
      <textarea
        id={`${field}-scope`}
        className="field mono"
        rows={2}
        defaultValue={task.scope.join("\n")}
        onChange={({ target }) => onEdit({ ...edit, scope: lines(target.value) })}
      />
      <span>{translate("After")}</span>
      <div className="plan-after" role="group" aria-label={translate("Dependencies of {id}", { id: task.id })}>
        {tasks
          .filter(({ id }) => id !== task.id)
          .map(({ id }) => (
            <label key={id}>
              <input
                type="checkbox"
                checked={task.dependencies.includes(id)}
                onChange={({ target }) =>
                  onEdit({
                    ...edit,
                    dependencies: target.checked
                      ? [...task.dependencies, id]
                      : task.dependencies.filter((each) => each !== id),
                  })
                }
              />
              {id}
            </label>
          ))}
      </div>
      <label htmlFor={`${field}-agent`}>{translate("Agent")}</label>
      <input
        id={`${field}-agent`}
        className="field"
        placeholder={translate("Agent of the run")}
        value={edit.agent ?? task.agent ?? ""}
        onChange={({ target }) => onEdit({ ...edit, agent: target.value })}
      />
      <label htmlFor={`${field}-model`}>{translate("Model")}</label>
      <input
        id={`${field}-model`}
        className="field"
        placeholder={translate("Model of the agent")}
        value={edit.model ?? task.model ?? ""}
        onChange={({ target }) => onEdit({ ...edit, model: target.value })}
      />
      <label htmlFor={`${field}-labels`}>{translate("Labels of its host, one per line")}</label>
      <textarea
        id={`${field}-labels`}
        className="field mono"
        rows={2}
        defaultValue={labelLines(task.labels).join("\n")}
        onChange={({ target }) => onEdit({ ...edit, labels: readLabels(lines(target.value)) })}
      />
      <button type="button" className="button button-danger" onClick={onRemove}>
        {translate("Remove {id}", { id: task.id })}
      </button>
    </fieldset>
  );
}

/** A line without `=` is a label with an empty value. */
function readLabels(lines: readonly string[]): Record<string, string> {
  const pairs = lines.map((line) => {
    const [name = "", ...value] = line.split("=");
    return [name.trim(), value.join("=").trim()] as const;
  });
  return Object.fromEntries(pairs.filter(([name]) => name !== ""));
}
