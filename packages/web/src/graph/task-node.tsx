import { Handle, Position, type Node, type NodeProps } from "@xyflow/react";
import { taskLook } from "../run/task-look.ts";
import { Icon } from "../shell/icon.tsx";
import { AgentText } from "../text/agent-text.tsx";
import { shown } from "../text/safe-text.ts";
import type { Run } from "../../../tutti/src/schema/run.ts";
import type { Task } from "../../../tutti/src/schema/task.ts";

export type TaskNodeType = Node<{ run: Run; task: Task; opened: boolean; open: () => void }, "task">;

export function TaskNode({ data: { run, task, opened, open } }: NodeProps<TaskNodeType>) {
  const look = taskLook(run, task);
  const worker = run.workers[task.id];
  const progress = worker?.progress ?? 0;
  const working = look.tone === "running" && progress > 0;
  return (
    <>
      <Handle type="target" position={Position.Left} isConnectable={false} />
      <button
        type="button"
        className={`task-node tone-${look.tone}${worker ? "" : " is-idle"}${opened ? " is-open" : ""}`}
        data-task={task.id}
        data-status={look.word}
        title={shown(task.title, 300)}
        onClick={open}
      >
        <span className="task-node-top">
          <Icon name={look.icon} size={14} />
          <span className="task-node-word">{look.word}</span>
          {working && <span>{progress} %</span>}
          <span className="task-node-id mono">{task.id}</span>
        </span>
        <span className="task-node-title">
          <AgentText text={task.title} max={120} />
        </span>
        <span className="task-node-bar" aria-hidden="true">
          <span style={{ width: `${progress}%` }} />
        </span>
      </button>
      <Handle type="source" position={Position.Right} isConnectable={false} />
    </>
  );
}
