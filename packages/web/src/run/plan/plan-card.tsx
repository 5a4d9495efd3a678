import { say, translate } from "../../text/language.ts";
import { Suspense, useState } from "react";
import { CancelButton } from "../cancel-button.tsx";
import {
  changesOf,
  editedTasks,
  editOf,
  freeId,
  hasChanges,
  NO_EDITS,
  problemOf,
  withoutAdded,
  type PlanEdits,
} from "./plan-edits.ts";
import { changedFields, comparePlans, earlierPlan, type ComparedField } from "./compare-plans.ts";
import { estimateEdited } from "./estimate-edited.ts";
import { PlanTask } from "./plan-task.tsx";
import { keepWords, RequestChanges } from "./request-changes.tsx";
import { budgetLimits, PlanTerms } from "../../inbox/item-evidence.tsx";
import { ItemTerms } from "../../inbox/item-terms.tsx";
import { ErrorBoundary } from "../../errors/error-boundary.tsx";
import { useIsWide } from "../../shell/use-is-wide.ts";
import { Icon } from "../../parts/icon.tsx";
import { useKeys } from "../../shell/keys.ts";
import { Notice } from "../../parts/notice.tsx";
import { OrderButton } from "../../shell/order-button.tsx";
import { server } from "../../shell/server.ts";
import { useRequest } from "../../shell/use-request.ts";
import { AgentText } from "../../text/agent-text.tsx";
import { AgentQuote } from "../../text/agent-words.tsx";
import { forgetDraft, hasDraft, keepDraft, useDraftText } from "../../text/drafts.ts";
import { money, plural } from "../../text/format.ts";
import { capitalize } from "../../../../tutti/src/sentence.ts";
import type { PlanEstimate } from "../../../../tutti/src/run/plan/estimate.ts";
import { parallelGroups } from "../../../../tutti/src/run/plan/graph.ts";
import type { Run } from "../../../../tutti/src/schema/run.ts";
import { lazyPart } from "../../shell/lazy-part.ts";

const TaskGraph = lazyPart(async () => (await import("../../graph/task-graph.tsx")).TaskGraph);

const MOST_EVENTS = 500;

interface Properties {
  run: Run;
  opened: string | null;
  onOpen: (taskId: string) => void;
}

/** No worker starts before the user confirms the plan. Edits are a draft (`keepDraft`), so they survive a reload. */
export function PlanCard({ run, opened, onOpen }: Properties) {
  const item = Object.values(run.inbox).find(({ kind }) => kind === "plan");
  const draft = useDraftText(item?.id ?? "", "edits");
  const words = useDraftText(item?.id ?? "");
  const edits = readEdits(draft);
  const changes = changesOf(run.tasks, edits);
  const isEdited = hasChanges(changes);
  const [filter, setFilter] = useState("");
  const [undone, setUndone] = useState(0);
  const isWide = useIsWide();
  const sound = run.planErrors.length === 0;
  const tasks = editedTasks(run.tasks, edits);
  const kept = tasks.filter(({ id }) => !editOf(edits, id).skip);
  const problem = sound ? problemOf(run.tasks, edits) : null;
  const known = (item?.evidence as { estimate?: PlanEstimate | null } | undefined)?.estimate;
  const estimate = sound && known && kept.length > 0 ? estimateEdited(known, run, withinPlan(kept)) : null;
  const budget = edits.usd === "" ? run.budget : { ...run.budget, usd: Number(edits.usd) };
  const limits = budgetLimits(budget);

  const change = (next: PlanEdits) => {
    if (!item) return;
    const text = hasChanges(changesOf(run.tasks, next)) ? JSON.stringify(next) : "";
    const title = translate("Edits of the plan of {id}", { id: run.id });
    keepDraft({ item: item.id, part: "edits", run: run.id, title, text });
  };
  const undo = () => {
    change(NO_EDITS);
    setUndone(undone + 1);
  };
  const confirm = async () => {
    const hash = item?.hash;
    // `LostDrafts` would report the drafts of a plan that is gone.
    if (item) forgetDraft(item.id, "edits");
    if (item) forgetDraft(item.id);
    try {
      // `hash` binds the confirmation to the plan on the screen: the server rejects it if the plan changed since.
      return await server.order(run.id, "confirm", hash === undefined ? changes : { ...changes, hash });
    } catch (error) {
      if (item && !hasDraft(item.id, "edits")) change(edits);
      if (item && !hasDraft(item.id)) keepWords(item, words);
      throw error;
    }
  };
  useKeys({ a: () => sound && document.querySelector<HTMLElement>(".plan .button-primary")?.click() });
  const shown = tasks.filter(({ id, title }) => `${id} ${title}`.toLowerCase().includes(filter.toLowerCase()));

  // `tutti confirm` needs a file for edits other than skipped tasks.
  const { modifications = {}, ...others } = changes;
  const edited = Object.values(modifications);
  const isSkipsOnly = !hasChanges(others) && edited.every(({ skip, satisfied }) => skip && !satisfied);
  const skips = Object.keys(modifications).map((id) => ` --skip ${id}`);
  const drawn = isEdited ? { ...run, ...drawnPlan(kept, problem === null) } : run;

  return (
    <section className="card plan needs-you" aria-labelledby="plan-title">
      <header className="plan-head">
        <Icon name="question" size={20} />
        <div>
          <h2 id="plan-title">
            {sound
              ? translate("Confirm this plan of {tasks}?", { tasks: plural(kept.length, "task") })
              : translate("This plan is invalid")}
          </h2>
          {item && <ItemTerms item={item} />}
          {run.analysis && (
            <AgentQuote isMuted>
              <AgentText text={run.analysis.summary} max={600} />
            </AgentQuote>
          )}
          {sound && (
            <p className="plan-approves">
              {translate("You approve {tasks} with {budget}.", {
                tasks: plural(kept.length, "task"),
                budget:
                  limits.length === 0
                    ? translate("no limit of cost")
                    : translate("a budget of {limits}", { limits: limits.join(", ") }),
              })}
            </p>
          )}
        </div>
        <div className="run-actions">
          <CancelButton id={run.id} />
          {sound && (
            <OrderButton
              word={translate("Confirm plan")}
              command={isSkipsOnly ? `tutti confirm ${run.id}${skips.join("")}` : undefined}
              shortcut="a"
              primary
              disabled={problem !== null}
              reason={problem ?? undefined}
              order={confirm}
            />
          )}
        </div>
      </header>
      {run.planErrors.map((error) => (
        <Notice key={error} tone="bad">
          <AgentText text={capitalize(say(error))} max={600} />
        </Notice>
      ))}
      {problem !== null && (
        <Notice tone="bad">
          <AgentText text={problem} max={400} />
        </Notice>
      )}
      <ComparedPlan run={run} item={item?.id} />
      {estimate && <PlanTerms estimate={estimate} budget={budget} hasTokens={run.template.ui.showTokenEstimate} />}
      {tasks.length > 12 && (
        <input
          className="field"
          type="search"
          aria-label={translate("Find tasks of the plan")}
          placeholder={translate("Find tasks of the plan")}
          value={filter}
          onChange={({ target }) => setFilter(target.value)}
        />
      )}
      <div className={isWide ? "plan-sides" : undefined}>
        <ol className="plan-tasks" tabIndex={0} aria-label={translate("Tasks of the plan")}>
          {shown.map((task, index) => (
            // An invalid plan may contain the same id twice, so the key includes `index`. Fields that keep their own text
            // get that of the plan again with a new key.
            <PlanTask
              key={`${index} ${task.id} ${undone}`}
              task={task}
              tasks={tasks}
              edits={edits}
              onEdit={sound ? (edit) => change({ ...edits, tasks: { ...edits.tasks, [task.id]: edit } }) : undefined}
              onRemove={() =>
                change(
                  edits.added.includes(task.id)
                    ? withoutAdded(edits, task.id)
                    : { ...edits, removed: [...edits.removed, task.id] },
                )
              }
            />
          ))}
        </ol>
        {isWide && (
          <section className="plan-graph" aria-label={translate("Graph of the plan")}>
            <ErrorBoundary part={translate("The graph")}>
              <Suspense fallback={<p className="loading">{translate("Loading …")}</p>}>
                <TaskGraph run={drawn} opened={opened} onOpen={onOpen} />
              </Suspense>
            </ErrorBoundary>
          </section>
        )}
      </div>
      {sound && (
        <div className="answer-row plan-more">
          <button
            type="button"
            className="button"
            onClick={() => change({ ...edits, added: [...edits.added, freeId(run.tasks, edits)] })}
          >
            {translate("Add a task")}
          </button>
          <label>
            {translate("Budget in US dollars")}{" "}
            <input
              className="field is-short"
              type="number"
              min="0"
              step="any"
              placeholder={run.budget.usd === undefined ? translate("no limit") : money(run.budget.usd)}
              value={edits.usd}
              onChange={({ target }) => change({ ...edits, usd: target.value })}
            />
          </label>
          {isEdited && (
            <button type="button" className="button" onClick={undo}>
              {translate("Undo my edits")}
            </button>
          )}
        </div>
      )}
      {item && <RequestChanges item={item} />}
    </section>
  );
}

/** No worker has started, so the end of the log has all plans of the run. */
function ComparedPlan({ run, item }: { run: Run; item: string | undefined }) {
  const { value } = useRequest(`${run.id} ${item}`, (signal) =>
    server.call("GET /api/orchestrator/:id/events", { params: { id: run.id }, query: { tail: MOST_EVENTS }, signal }),
  );
  const earlier = earlierPlan(value ?? []);
  if (earlier === null) return null;
  const { added, removed, changed } = comparePlans(earlier, run.tasks);
  const parts = [
    added.length > 0 && translate("new: {tasks}", { tasks: added.join(", ") }),
    removed.length > 0 && translate("gone: {tasks}", { tasks: removed.join(", ") }),
    changed.length > 0 && translate("changed: {tasks}", { tasks: changed.join(", ") }),
  ].filter(Boolean);
  return (
    <Notice tone="neutral">
      <AgentText
        text={translate("Since the plan before: {changes}.", {
          changes: parts.join("; ") || translate("no difference"),
        })}
        max={800}
      />
      {changed.length > 0 && (
        <details className="folded">
          <summary>{translate("Show the differences")}</summary>
          <ul className="plain-list" aria-label={translate("Differences from the plan before")}>
            {changedFields(earlier, run.tasks).map(({ id, field, before, after }) => (
              <li key={`${id} ${field}`} className="plan-difference">
                <code>{id}</code> <span>{FIELD_NAMES[field]}</span>
                <del>
                  <AgentText text={before || translate("none")} max={600} />
                </del>
                <ins>
                  <AgentText text={after || translate("none")} max={600} />
                </ins>
              </li>
            ))}
          </ul>
        </details>
      )}
    </Notice>
  );
}

const FIELD_NAMES: Record<ComparedField, string> = {
  title: translate("Title"),
  description: translate("Description"),
  scope: translate("Files"),
  dependencies: translate("After"),
  priority: translate("Priority"),
  agent: translate("Agent"),
  model: translate("Model"),
  labels: translate("Labels"),
};

/** Without dependencies on tasks that are skipped. */
function withinPlan(kept: Run["tasks"]): Run["tasks"] {
  const ids = new Set(kept.map(({ id }) => id));
  return kept.map((task) => ({ ...task, dependencies: task.dependencies.filter((id) => ids.has(id)) }));
}

/** The stages of the server are those of the plan without edits. A plan with a cycle has none. */
function drawnPlan(kept: Run["tasks"], isSound: boolean): Pick<Run, "tasks" | "parallelGroups"> {
  const tasks = withinPlan(kept);
  return { tasks, parallelGroups: isSound ? parallelGroups(tasks) : [] };
}

function readEdits(draft: string): PlanEdits {
  if (draft === "") return NO_EDITS;
  try {
    return { ...NO_EDITS, ...(JSON.parse(draft) as Partial<PlanEdits>) };
  } catch {
    return NO_EDITS;
  }
}
