import { taskLook } from "../run/task-look.ts";
import { Icon } from "../shell/icon.tsx";
import { AgentText } from "../text/agent-text.tsx";
import { duration, plural } from "../text/format.ts";
import type { Run } from "../../../tutti/src/schema/run.ts";
import type { Task } from "../../../tutti/src/schema/task.ts";

interface Properties {
  task: Task;
  run: Run;
  opened: boolean;
  onOpen: () => void;
}

export function TaskLine({ task, run, opened, onOpen }: Properties) {
  const look = taskLook(run, task);
  return (
    <li>
      <button
        type="button"
        className={`task-line${opened ? " is-open" : ""}`}
        data-worker={task.id}
        aria-expanded={opened}
        onClick={onOpen}
      >
        <span className={`inline-mark tone-${look.tone}`} title={look.word}>
          <Icon name={look.icon} size={14} />
          <span className="visually-hidden">{look.word}</span>
        </span>
        <span className="task-line-what">
          <span className="clip">
            <AgentText text={task.title} max={120} />
          </span>
          <span className="muted clip">
            <AgentText text={detail(run, task)} max={200} />
          </span>
        </span>
        <Icon name="chevron" size={12} />
      </button>
    </li>
  );
}

function detail(run: Run, task: Task): string {
  const worker = run.workers[task.id];
  if (worker?.status === "completed") {
    const time = worker.startedAt === null ? "" : ` in ${duration(worker.completedAt! - worker.startedAt)}`;
    return `${plural(worker.outputFiles.length, "file")}${time}, ${plural(worker.toolStats.total, "tool call")}`;
  }
  if (worker?.error) return worker.error;
  if (Object.hasOwn(run.skipped, task.id)) return "skipped by a user";
  const blocked = run.blocked[task.id];
  if (blocked) return `blocked by ${blocked.join(", ")}`;
  const open = task.dependencies.filter((id) => run.workers[id]?.status !== "completed" && !run.skipped[id]?.satisfied);
  return open.length > 0 ? `after ${open.join(", ")}` : "queued";
}
