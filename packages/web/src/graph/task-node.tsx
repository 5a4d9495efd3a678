import { memo } from "react";
import { Handle, Position, type Node, type NodeProps } from "@xyflow/react";
import type { StatusStyle } from "../run/run-look.ts";
import { Icon } from "../parts/icon.tsx";
import { AgentWords } from "../text/agent-words.tsx";
import { shown } from "../text/safe-text.ts";

export interface NodeContent extends StatusStyle {
  id: string;
  title: string;
  progress: number;
  isIdle: boolean;
  isOpen: boolean;
  open: (id: string) => void;
}

export type TaskNodeType = Node<NodeContent & Record<string, unknown>, "task">;

/** `TaskGraph` keeps the object of an unchanged node, so `memo` renders only changes. */
export const TaskNode = memo(function TaskNode({ data }: NodeProps<TaskNodeType>) {
  const { id, title, word, tone, icon, progress, isIdle, isOpen, open } = data;
  const isWorking = tone === "running" && progress > 0;
  return (
    <>
      <Handle type="target" position={Position.Left} isConnectable={false} />
      <button
        type="button"
        className={`task-node tone-${tone}${isIdle ? " is-idle" : ""}${isOpen ? " is-open" : ""}`}
        data-task={id}
        data-status={word}
        title={shown(title, 300)}
        onClick={() => open(id)}
      >
        <span className="task-node-top">
          <Icon name={icon} size={14} />
          <span className="task-node-word">{word}</span>
          {isWorking && <span className="task-node-percent">{`${progress} %`}</span>}
          <span className="task-node-id mono">{id}</span>
        </span>
        <span className="task-node-title">
          <AgentWords text={title} max={120} />
        </span>
        <span className="task-node-bar" aria-hidden="true">
          <span style={{ width: `${progress}%` }} />
        </span>
      </button>
      <Handle type="source" position={Position.Right} isConnectable={false} />
    </>
  );
});
