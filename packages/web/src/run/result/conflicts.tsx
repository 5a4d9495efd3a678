import { FoldedList } from "./folded-list.tsx";
import type { Conflict } from "../../../../tutti/src/schema/outcome.ts";
import { AgentText } from "../../text/agent-text.tsx";
import { plural } from "../../text/format.ts";

export function Conflicts({ conflicts }: { conflicts: Conflict[] }) {
  if (conflicts.length === 0) return null;
  return (
    <FoldedList title={plural(conflicts.length, "conflict")} items={conflicts} most={100}>
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
