import { translate } from "../text/language.ts";
import { ChangedFiles } from "../run/result/changed-files.tsx";
import { FactList } from "../parts/fact-list.tsx";
import { Notice } from "../parts/notice.tsx";
import { AgentText } from "../text/agent-text.tsx";
import { LongText } from "../text/long-text.tsx";
import type { Task } from "../../../tutti/src/schema/task.ts";
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
          [translate("Files"), task.scope.join(", ")],
          [translate("Priority"), task.priority],
          [translate("Agent"), worker?.session.agent ?? task.agent],
          [translate("Model"), worker?.session.model ?? task.model],
          [translate("Role"), task.role],
          [translate("Labels"), labels.join(", ")],
        ]}
      />
      <h3>{translate("Summary")}</h3>
      <div className="agent-words">
        <LongText text={worker?.summary ?? translate("It has not reported yet.")} max={2000} />
      </div>
      {(worker?.reportedWarnings ?? []).map((warning) => (
        <Notice key={warning} tone="warning">
          <AgentText text={warning} max={400} />
        </Notice>
      ))}
      {worker && (
        <>
          <h3>{translate("Output")}</h3>
          <ChangedFiles files={worker.outputFiles} />
          {isData(worker.output) && <LongText text={JSON.stringify(worker.output, null, 2)} max={4000} mono />}
        </>
      )}
    </div>
  );
}

const isData = (output: unknown): output is object => typeof output === "object" && output !== null;
