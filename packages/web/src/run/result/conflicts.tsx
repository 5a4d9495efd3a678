import { say, translate, type Noun } from "../../text/language.ts";
import { VersionLinks } from "../../changes/version-links.tsx";
import { FoldedList } from "./folded-list.tsx";
import type { Conflict } from "../../../../tutti/src/schema/outcome.ts";
import { AgentText } from "../../text/agent-text.tsx";
import { AgentWords } from "../../text/agent-words.tsx";
import { plural } from "../../text/format.ts";

/** `overlaps` were merged without a conflict, so they have a list of their own. */
export function Conflicts({ run, conflicts }: { run: string; conflicts: Conflict[] }) {
  const overlaps = conflicts.filter(({ type }) => type === "overlap");
  const others = conflicts.filter(({ type }) => type !== "overlap");
  return (
    <>
      <ConflictList run={run} noun="conflict" conflicts={others} />
      <ConflictList run={run} noun="overlap" conflicts={overlaps} />
    </>
  );
}

function ConflictList({ run, noun, conflicts }: { run: string; noun: Noun; conflicts: Conflict[] }) {
  if (conflicts.length === 0) return null;
  return (
    <FoldedList title={plural(conflicts.length, noun)} items={conflicts} most={100}>
      {({ files, tasks, resolution }) => (
        <li key={`${files.join(" ")} ${tasks.join(" ")}`}>
          <code>
            <AgentText text={files.join(", ")} max={200} />
          </code>{" "}
          {translate("between")} <VersionLinks run={run} tasks={tasks} files={files} />
          <div className="muted">
            {resolution === null ? (
              translate("Not resolved. Both versions are kept.")
            ) : noun === "overlap" ? (
              say(resolution)
            ) : (
              <AgentWords text={say(resolution)} max={300} />
            )}
          </div>
        </li>
      )}
    </FoldedList>
  );
}
