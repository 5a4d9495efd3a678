import { FoldedList } from "./folded-list.tsx";
import type { Conflict } from "../../../../tutti/src/schema/outcome.ts";
import { AgentText } from "../../text/agent-text.tsx";
import { plural } from "../../text/format.ts";

/** Overlaps were merged without a conflict, so they have a list of their own. */
export function Conflicts({ conflicts }: { conflicts: Conflict[] }) {
  const overlaps = conflicts.filter(({ type }) => type === "overlap");
  const others = conflicts.filter(({ type }) => type !== "overlap");
  return (
    <>
      <ConflictList noun="conflict" conflicts={others} />
      <ConflictList noun="overlap" conflicts={overlaps} />
    </>
  );
}

function ConflictList({ noun, conflicts }: { noun: string; conflicts: Conflict[] }) {
  if (conflicts.length === 0) return null;
  return (
    <FoldedList title={plural(conflicts.length, noun)} items={conflicts} most={100}>
      {({ files, tasks, resolution }) => (
        <li key={`${files.join(" ")} ${tasks.join(" ")}`}>
          <code>
            <AgentText text={files.join(", ")} max={200} />
          </code>{" "}
          between {tasks.join(" and ")}
          <div className="muted">
            {resolution === null ? "Not resolved. Both versions are kept." : <AgentText text={resolution} max={300} />}
          </div>
        </li>
      )}
    </FoldedList>
  );
}
