import { translate } from "../text/language.ts";
import { ChangedFiles } from "../run/result/changed-files.tsx";
import { FactList } from "../parts/fact-list.tsx";
import { Notice } from "../parts/notice.tsx";
import { AgentWords } from "../text/agent-words.tsx";
import { LongText } from "../text/long-text.tsx";
import type { Task } from "../../../tutti/src/schema/task.ts";
import { isWorkerOver } from "../../../tutti/src/schema/status.ts";
import type { Worker } from "../../../tutti/src/schema/worker.ts";

/** `task` is the work that was asked for, and `worker` the work that came of it. `TaskDetails` has the state. */
export function TaskSummary({ task, worker }: { task: Task; worker: Worker | undefined }) {
  const labels = Object.entries(task.labels ?? {}).map(([name, value]) => `${name}=${value}`);
  return (
    <div className="task-summary">
      <h3>{translate("Description")}</h3>
      <div className="agent-words">
        <LongText text={task.description} max={2000} />
      </div>
      <FactList
        rows={[
          [translate("Files"), task.scope.length > 0 && <AgentWords text={task.scope.join(", ")} max={600} />],
          [translate("Priority"), task.priority],
          [translate("Agent"), worker?.session.agent ?? task.agent],
          [translate("Model"), worker?.session.model ?? task.model],
          [translate("Role"), task.role],
          [translate("Labels"), labels.join(", ")],
        ]}
      />
      <h3>{translate("Summary")}</h3>
      {worker?.summary ? (
        <div className="agent-words">
          <LongText text={worker.summary} max={2000} />
        </div>
      ) : (
        <p className="muted">
          {worker && isWorkerOver(worker.status)
            ? translate("It ended without a summary.")
            : translate("It has not reported yet.")}
        </p>
      )}
      {(worker?.reportedWarnings ?? []).map((warning) => (
        <Notice key={warning} tone="warning">
          <AgentWords text={warning} max={400} />
        </Notice>
      ))}
      {worker && (
        <>
          <h3>{translate("Output")}</h3>
          <ChangedFiles files={worker.outputFiles} />
          {isData(worker.output) && (
            <div className="agent-words">
              <LongText text={JSON.stringify(worker.output, null, 2)} max={4000} mono />
            </div>
          )}
        </>
      )}
    </div>
  );
}

const isData = (output: unknown): output is object => typeof output === "object" && output !== null;
