import { taskLook } from "../task-look.ts";
import { Badge } from "../../parts/badge.tsx";
import { AgentWords } from "../../text/agent-words.tsx";
import type { Run } from "../../../../tutti/src/schema/run.ts";
import type { Task } from "../../../../tutti/src/schema/task.ts";

interface Properties {
  run: Run;
  task: Task;
  onOpen: (session: string) => void;
}

/** The name opens the panel of the task. */
export function TaskHead({ run, task, onOpen }: Properties) {
  const look = taskLook(run, task);
  return (
    <div className="tab-row-head">
      <Badge tone={look.tone} icon={look.icon === "spinner" ? "dot" : look.icon}>
        {look.word}
      </Badge>
      <button type="button" className="row-button" onClick={() => onOpen(task.id)}>
        <code>{task.id}</code> <AgentWords text={task.title} max={160} />
      </button>
    </div>
  );
}
