import { translate } from "../../text/language.ts";
import { PlanTerms } from "../../inbox/item-evidence.tsx";
import { TaskHead } from "./task-head.tsx";
import { FactList } from "../../parts/fact-list.tsx";
import { plural } from "../../text/format.ts";
import { AgentQuote, AgentWords } from "../../text/agent-words.tsx";
import { LongText } from "../../text/long-text.tsx";
import { estimatePlan } from "../../../../tutti/src/run/plan/estimate.ts";
import type { Run } from "../../../../tutti/src/schema/run.ts";
import { isRunOver } from "../../../../tutti/src/schema/status.ts";

export function PlanTab({ run, onOpen }: { run: Run; onOpen: (session: string) => void }) {
  const { maxWorkers, parallelExecution } = run.template.config;
  const stages = stagesOf(run);
  const stageOf = new Map(stages.flatMap((ids, index) => ids.map((id) => [id, index + 1])));
  return (
    <section className="card run-tab" aria-labelledby="plan-tab-title">
      <h2 id="plan-tab-title">
        {translate("Plan")}{" "}
        <span className="muted">
          {translate("{tasks} in {stages}", {
            tasks: plural(run.tasks.length, "task"),
            stages: plural(stages.length, "stage"),
          })}
        </span>
      </h2>
      {run.analysis && (
        <AgentQuote>
          <LongText text={run.analysis.summary} max={1000} />
        </AgentQuote>
      )}
      {run.tasks.length === 0 ? (
        <p className="nothing-yet">
          {isRunOver(run.status)
            ? translate("The run ended before it had a plan.")
            : translate("The plan appears here when it is ready.")}
        </p>
      ) : (
        <PlanTerms
          estimate={estimatePlan(run.tasks, parallelExecution ? maxWorkers : 1)}
          budget={run.budget}
          hasTokens={run.template.ui.showTokenEstimate}
        />
      )}
      <ol className="tab-rows">
        {run.tasks.map((task, index) => (
          // An invalid plan may contain the same id twice, so the key includes `index`.
          <li key={`${index} ${task.id}`}>
            <TaskHead run={run} task={task} onOpen={onOpen} />
            <AgentQuote>
              <LongText text={task.description} max={400} />
            </AgentQuote>
            <FactList
              rows={[
                [translate("Stage"), stageOf.get(task.id)],
                [translate("After"), task.dependencies.join(", ")],
                [translate("Files"), task.scope.length > 0 && <AgentWords text={task.scope.join(", ")} max={600} />],
                [translate("Priority"), task.priority],
                [translate("Agent"), task.agent],
                [translate("Model"), task.model],
                [translate("Role"), task.role],
                [translate("Skipped"), skipNote(run, task.id)],
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
  return skipped[id]!.satisfied
    ? translate("by you; its dependents start without it")
    : translate("by you, with its dependents");
};

/** An invalid plan has no `parallelGroups`; it is shown as one stage. */
const stagesOf = ({ parallelGroups, tasks }: Run): string[][] =>
  parallelGroups.length > 0 ? parallelGroups : [tasks.map(({ id }) => id)];
