import { translate } from "../text/language.ts";
import { memo } from "react";
import { Handle, Position, type Node, type NodeProps } from "@xyflow/react";
import { plural } from "../text/format.ts";
import type { Severity } from "../../../tutti/src/run/describe-event.ts";

export interface StageContent extends Record<Severity, number> {
  number: number;
  size: number;
  open: (number: number) => void;
}

export type StageNodeType = Node<StageContent & Record<string, unknown>, "stage">;

export const TONES: readonly Severity[] = ["good", "running", "you", "warning", "bad", "neutral"];
const WORDS: Record<Severity, string> = {
  good: translate("completed"),
  running: translate("working"),
  you: translate("for you"),
  warning: translate("to look at"),
  bad: translate("failed"),
  neutral: translate("waiting"),
};

/** Counts the tasks of a closed stage by state. A click opens it. */
export const StageNode = memo(function StageNode({ data }: NodeProps<StageNodeType>) {
  const { number, size, open } = data;
  const used = TONES.filter((tone) => data[tone] > 0);
  return (
    <>
      <Handle type="target" position={Position.Left} isConnectable={false} />
      <button type="button" className="task-node stage-node" data-stage={number} onClick={() => open(number)}>
        <strong>
          {translate("Stage {number}", { number })} <span className="muted">{plural(size, "task")}</span>
        </strong>
        <span className="muted clip">{used.map((tone) => `${data[tone]} ${WORDS[tone]}`).join(", ")}</span>
        <span className="stage-bar" aria-hidden="true">
          {used.map((tone) => (
            <span key={tone} className={`tone-${tone}`} style={{ width: `${(data[tone] / size) * 100}%` }} />
          ))}
        </span>
      </button>
      <Handle type="source" position={Position.Right} isConnectable={false} />
    </>
  );
});
