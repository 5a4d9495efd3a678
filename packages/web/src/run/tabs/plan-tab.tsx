import { PlanTerms } from "../../inbox/item-evidence.tsx";
import { TaskHead } from "./task-head.tsx";
import { FactList } from "../../parts/fact-list.tsx";
import { plural } from "../../text/format.ts";
import { LongText } from "../../text/long-text.tsx";
import { estimatePlan } from "../../../../tutti/src/run/plan/estimate.ts";
import type { Run } from "../../../../tutti/src/schema/run.ts";
import { isRunOver } from "../../../../tutti/src/schema/status.ts";

/** The plan as it is carried out: its terms, and every task with all fields, by stage. */
export function PlanTab({ run, onOpen }: { run: Run; onOpen: (session: string) => void }) {
  const { maxWorkers, parallelExecution } = run.template.config;
  const stages = stagesOf(run);
  const stageOf = new Map(stages.flatMap((ids, index) => ids.map((id) => [id, index + 1])));
  return (
    <section className="card run-tab" aria-labelledby="plan-tab-title">
      <h2 id="plan-tab-title">
        Plan <span className="muted">{`${plural(run.tasks.length, "task")} in ${plural(stages.length, "stage")}`}</span>
      </h2>
      {run.analysis && (
        <div className="agent-words">
          <LongText text={run.analysis.summary} max={1000} />
        </div>
      )}
      {run.tasks.length === 0 ? (
        <p className="nothing-yet">
          {isRunOver(run.status) ? "The run ended before it had a plan." : "The plan appears here when it is ready."}
        </p>
      ) : (
        <PlanTerms estimate={estimatePlan(run.tasks, parallelExecution ? maxWorkers : 1)} budget={run.budget} />
      )}
      <ol className="tab-rows">
        {run.tasks.map((task, index) => (
          // An invalid plan may contain the same id twice, so the key includes `index`.
          <li key={`${index} ${task.id}`}>
            <TaskHead run={run} task={task} onOpen={onOpen} />
            <div className="agent-words">
              <LongText text={task.description} max={400} />
            </div>
            <FactList
              rows={[
                ["Stage", stageOf.get(task.id)],
                ["After", task.dependencies.join(", ")],
                ["Files", task.scope.join(", ")],
                ["Priority", task.priority],
                ["Agent", task.agent],
                ["Model", task.model],
                ["Role", task.role],
                ["Skipped", skipNote(run, task.id)],
              ]}
            />
          </li>
        ))}
      </ol>
    </section>
  );
}

const skipNote = ({ skipped }: Run, id: string): string | null => {
  if (!Object.hasOwn(skipped, id)) return null;
  return skipped[id]!.satisfied ? "by you; its dependents start without it" : "by you, with its dependents";
};

/** The stages of the plan; an invalid plan is one stage. */
const stagesOf = ({ parallelGroups, tasks }: Run): string[][] =>
  parallelGroups.length > 0 ? parallelGroups : [tasks.map(({ id }) => id)];
