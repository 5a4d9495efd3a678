import { useState } from "react";
import { AnswerForm } from "../answer-form.tsx";
import { CancelButton } from "../cancel-button.tsx";
import { modifications, type PlanEdits } from "./plan-edits.ts";
import { PlanTask } from "./plan-task.tsx";
import { Icon } from "../../shell/icon.tsx";
import { Notice } from "../../shell/notice.tsx";
import { OrderButton } from "../../shell/order-button.tsx";
import { server } from "../../shell/server.ts";
import { AgentText } from "../../text/agent-text.tsx";
import { plural } from "../../text/format.ts";
import { capitalize } from "../../../../tutti/src/run/describe-event.ts";
import type { Run } from "../../../../tutti/src/schema/run.ts";

/** The plan for the user to confirm. No worker starts before that. */
export function PlanCard({ run }: { run: Run }) {
  const [edits, setEdits] = useState<PlanEdits>({});
  const hash = Object.values(run.inbox).find(({ kind }) => kind === "plan")?.hash;
  const confirm = () => {
    const changes = { modifications: modifications(run.tasks, edits) };
    // `hash` binds the confirmation to the plan on the screen: the server rejects it if the plan changed since.
    return server.order(run.id, "confirm", hash === undefined ? changes : { ...changes, hash });
  };
  const sound = run.planErrors.length === 0;
  return (
    <section className="card plan needs-you" aria-labelledby="plan-title">
      <header className="plan-head">
        <Icon name="question" size={20} />
        <div>
          <h2 id="plan-title">
            {sound ? `Confirm this plan of ${plural(run.tasks.length, "task")}?` : "This plan is invalid"}
          </h2>
          {run.analysis && (
            <p className="muted">
              <AgentText text={run.analysis.summary} max={600} />
            </p>
          )}
        </div>
        <div className="run-actions">
          <CancelButton id={run.id} />
          {sound && <OrderButton word="Confirm plan" primary order={confirm} />}
        </div>
      </header>
      {run.planErrors.map((error) => (
        <Notice key={error} tone="bad">
          <AgentText text={capitalize(error)} max={600} />
        </Notice>
      ))}
      <ol className="plan-tasks" tabIndex={0} aria-label="Tasks of the plan">
        {run.tasks.map((task, index) => (
          // An invalid plan may contain the same id twice, so the key includes `index`.
          <PlanTask
            key={`${index} ${task.id}`}
            task={task}
            tasks={run.tasks}
            edits={edits}
            onEdit={sound ? (edit) => setEdits({ ...edits, [task.id]: edit }) : undefined}
          />
        ))}
      </ol>
      <AnswerForm
        label="Request changes"
        placeholder="Describe the changes. The main session makes a new plan."
        submit="Request a new plan"
        send={(text) => server.order(run.id, "requestChanges", { text })}
      />
    </section>
  );
}
