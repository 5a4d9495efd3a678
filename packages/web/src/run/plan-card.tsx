import { useState } from "react";
import { CancelButton } from "./cancel-button.tsx";
import { ChangeRequest } from "./change-request.tsx";
import { modifications, type PlanEdits } from "./plan-edits.ts";
import { PlanTask } from "./plan-task.tsx";
import { ActionError } from "../shell/action-error.tsx";
import { Icon } from "../shell/icon.tsx";
import { Notice } from "../shell/notice.tsx";
import { sentence } from "../shell/problem.ts";
import { server } from "../shell/server.ts";
import { useAction } from "../shell/use-action.ts";
import { AgentText } from "../text/agent-text.tsx";
import { plural } from "../text/format.ts";
import type { Run } from "../../../tutti/src/schema/run.ts";

/** The plan as the person has to judge it. Nothing is started before it is confirmed. */
export function PlanCard({ run }: { run: Run }) {
  const [edits, setEdits] = useState<PlanEdits>({});
  const hash = Object.values(run.inbox).find(({ kind }) => kind === "plan")?.hash;
  const confirm = useAction(() => {
    const changes = { modifications: modifications(run.tasks, edits) };
    // What is confirmed is what was shown, and nothing that came in between.
    return server.confirm(run.id, hash === undefined ? changes : { ...changes, hash });
  });
  const sound = run.planErrors.length === 0;
  return (
    <section className="card plan needs-you" aria-labelledby="plan-title">
      <header className="plan-head">
        <Icon name="question" size={20} />
        <div>
          <h2 id="plan-title">
            {sound ? `Carry out this plan of ${plural(run.tasks.length, "task")}?` : "This plan cannot be carried out"}
          </h2>
          {run.analysis && (
            <p className="muted">
              <AgentText text={run.analysis.summary} max={600} />
            </p>
          )}
        </div>
        <div className="run-actions">
          <CancelButton id={run.id} />
          {sound && (
            <button type="button" className="button button-primary" disabled={confirm.busy} onClick={confirm.run}>
              Confirm plan
            </button>
          )}
        </div>
      </header>
      <ActionError error={confirm.error} />
      {run.planErrors.map((error) => (
        <Notice key={error} tone="bad">
          <AgentText text={sentence(error)} max={600} />
        </Notice>
      ))}
      <ol className="plan-tasks" tabIndex={0} aria-label="Tasks of the plan">
        {run.tasks.map((task, index) => (
          // An unsound plan may hold the same id twice.
          <PlanTask
            key={`${index} ${task.id}`}
            task={task}
            tasks={run.tasks}
            edits={edits}
            onEdit={sound ? (edit) => setEdits({ ...edits, [task.id]: edit }) : undefined}
          />
        ))}
      </ol>
      <ChangeRequest id={run.id} />
    </section>
  );
}
