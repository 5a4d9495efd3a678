import type { ReactNode } from "react";
import type { Outcome } from "../../../tutti/src/schema/outcome.ts";
import type { Task } from "../../../tutti/src/schema/task.ts";
import { AgentText } from "../text/agent-text.tsx";
import { plural } from "../text/format.ts";

interface Properties {
  result: Outcome;
  filesKnown: boolean;
  tasks: Task[];
}

const MOST = 200;

export function ResultLists({ result, filesKnown, tasks }: Properties) {
  const titles = new Map(tasks.map(({ id, title }) => [id, title]));
  const { causes, conflicts, outputFiles } = result;
  return (
    <>
      {causes.length > 0 && (
        <Folded title={`${plural(causes.length, "task")} not simply done`} open>
          {causes.slice(0, MOST).map(({ taskId, status, reason }) => (
            <li key={taskId}>
              <code>{taskId}</code> {WORDS[status] ?? status}: <AgentText text={reason} max={400} />
              <div className="muted">
                <AgentText text={titles.get(taskId) ?? ""} max={120} />
              </div>
            </li>
          ))}
        </Folded>
      )}
      {conflicts.length > 0 && (
        <Folded title={plural(conflicts.length, "conflict")} open>
          {conflicts.slice(0, MOST).map(({ files, tasks: between, resolution }) => (
            <li key={`${files.join(" ")} ${between.join(" ")}`}>
              <code>
                <AgentText text={files.join(", ")} max={200} />
              </code>{" "}
              between {between.join(" and ")}
              <div className="muted">
                {resolution === null ? "left open; both versions are kept" : <AgentText text={resolution} max={300} />}
              </div>
            </li>
          ))}
        </Folded>
      )}
      {filesKnown && outputFiles.length > 0 && (
        <Folded title={`${plural(outputFiles.length, "file")} changed`} open={outputFiles.length <= 6}>
          {outputFiles.slice(0, MOST).map((file) => (
            <li key={file} className="mono">
              <AgentText text={file} max={200} />
            </li>
          ))}
          {outputFiles.length > MOST && <li className="muted">and {outputFiles.length - MOST} more</li>}
        </Folded>
      )}
      {filesKnown && outputFiles.length === 0 && <p className="muted">No file was changed.</p>}
    </>
  );
}

const WORDS: Record<string, string> = { neverStarted: "never started", timeout: "timed out" };

function Folded({ title, open, children }: { title: string; open: boolean; children: ReactNode }) {
  return (
    <details className="folded" open={open}>
      <summary>{title}</summary>
      <ul className="plain-list">{children}</ul>
    </details>
  );
}
