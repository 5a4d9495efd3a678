import { say, translate } from "../text/language.ts";
import { memo } from "react";
import type { StatusStyle } from "../run/run-look.ts";
import { taskLook } from "../run/task-look.ts";
import { Icon } from "../parts/icon.tsx";
import { AgentText } from "../text/agent-text.tsx";
import { AgentWords } from "../text/agent-words.tsx";
import { isOfTutti } from "../text/is-of-tutti.ts";
import { duration, plural } from "../text/format.ts";
import type { Run } from "../../../tutti/src/schema/run.ts";
import { isRunOver } from "../../../tutti/src/schema/status.ts";
import type { Task } from "../../../tutti/src/schema/task.ts";

interface Properties {
  task: Task;
  run: Run;
  onOpen: (taskId: string) => void;
}

export function TaskLine({ task, run, onOpen }: Properties) {
  const { word, tone, icon } = taskLook(run, task);
  return (
    <Line id={task.id} title={task.title} {...detail(run, task)} word={word} tone={tone} icon={icon} onOpen={onOpen} />
  );
}

interface Detail {
  detail: string;
  /** Whether `detail` may have words of an agent. */
  isOfAgent?: boolean;
}

interface LineProperties extends StatusStyle, Detail {
  id: string;
  title: string;
  onOpen: (taskId: string) => void;
}

/** A plan may have hundreds of lines, so `memo` renders only changes. `onOpen` does the same in all renders. */
const Line = memo(
  function Line({ id, title, detail: words, isOfAgent = false, word, tone, icon, onOpen }: LineProperties) {
    return (
      <li>
        <button type="button" className="task-line" data-worker={id} onClick={() => onOpen(id)}>
          <span className={`inline-mark tone-${tone}`} title={word}>
            <Icon name={icon} size={14} />
            <span className="visually-hidden">{word}</span>
          </span>
          <span className="task-line-what">
            <span className="clip">
              <AgentWords text={title} max={120} />
            </span>
            <span className="muted clip">
              {isOfAgent ? <AgentWords text={words} max={200} /> : <AgentText text={words} max={200} />}
            </span>
          </span>
          <Icon name="chevron" size={12} />
        </button>
      </li>
    );
  },
  ({ onOpen: _was, ...before }, { onOpen: _is, ...after }) =>
    Object.entries(after).every(([name, value]) => before[name as keyof typeof before] === value),
);

const timeOf = ({ startedAt, completedAt }: Run["workers"][string]): string =>
  startedAt === null || completedAt === null
    ? ""
    : translate(" in {time}", { time: duration(completedAt - startedAt) });

function detail(run: Run, task: Task): Detail {
  const worker = run.workers[task.id];
  if (worker?.status === "completed") {
    const files = plural(worker.outputFiles.length, "file");
    return { detail: `${files}${timeOf(worker)}, ${plural(worker.toolStats.total, "tool call")}` };
  }
  if (worker?.error) {
    const hasReason =
      isRunOver(run.status) ||
      Object.values(run.inbox).some(({ kind, taskId }) => kind === "failure" && taskId === task.id);
    // The result, or the inbox item of the failure, has the reason.
    if (hasReason) return { detail: `${plural(worker.toolStats.total, "tool call")}${timeOf(worker)}` };
    return { detail: say(worker.error), isOfAgent: !isOfTutti(worker.errorCode) };
  }
  if (Object.hasOwn(run.skipped, task.id)) return { detail: translate("skipped by a user") };
  const blocked = run.blocked[task.id];
  if (blocked) return { detail: translate("blocked by {tasks}", { tasks: blocked.join(", ") }) };
  const open = task.dependencies.filter((id) => run.workers[id]?.status !== "completed" && !run.skipped[id]?.satisfied);
  return {
    detail: open.length > 0 ? translate("after {tasks}", { tasks: open.join(", ") }) : translate("queued"),
  };
}
