import { translate } from "../text/language.ts";
import { Suspense } from "react";
import { ErrorBoundary } from "../errors/error-boundary.tsx";
import { TASK_VIEWS, type RunPlace, type TaskView } from "../shell/page-route.ts";
import { plural } from "../text/format.ts";
import type { Run } from "../../../tutti/src/schema/run.ts";
import { isRunOver } from "../../../tutti/src/schema/status.ts";
import { lazyPart } from "../shell/lazy-part.ts";

// `TaskGraph` and its layout are larger than the rest of the page, so they are loaded on demand.
const TaskGraph = lazyPart(async () => (await import("../graph/task-graph.tsx")).TaskGraph);
const TaskTable = lazyPart(async () => (await import("./task-table.tsx")).TaskTable);
const TaskTimeline = lazyPart(async () => (await import("../timeline/task-timeline.tsx")).TaskTimeline);

interface Properties {
  run: Run;
  place: RunPlace;
  onChange: (part: Partial<RunPlace>) => void;
  onOpen: (session: string) => void;
}

const VIEW_NAMES: Record<TaskView, string> = {
  graph: translate("Graph"),
  table: translate("Table"),
  timeline: translate("Timeline"),
};
const PARTS: Record<TaskView, string> = {
  graph: translate("The graph"),
  table: translate("The table"),
  timeline: translate("The timeline"),
};
/** A graph of more than `MOST_IN_GRAPH` tasks has no readable size, so the table comes first. */
const MOST_IN_GRAPH = 40;

/** All views show the same tasks, with one selection, the `session` of `place`. */
export function TaskSection({ run, place, onChange, onOpen }: Properties) {
  const { session: opened, find } = place;
  const view = place.taskView ?? (run.tasks.length > MOST_IN_GRAPH ? "table" : "graph");
  return (
    <section className="card task-section" aria-labelledby="tasks-title">
      <div className="card-title">
        <h2 id="tasks-title">
          {translate("Tasks")}{" "}
          {run.tasks.length > 0 && <span className="muted">{plural(run.tasks.length, "task")}</span>}
        </h2>
        {run.tasks.length > 0 && (
          <div className="views push" role="group" aria-label={translate("View of the tasks")}>
            {TASK_VIEWS.map((each) => (
              <button
                key={each}
                type="button"
                className={`button is-small${each === view ? " is-chosen" : ""}`}
                aria-pressed={each === view}
                onClick={() => onChange({ taskView: each })}
              >
                {VIEW_NAMES[each]}
              </button>
            ))}
          </div>
        )}
      </div>
      {run.tasks.length === 0 ? (
        <p className="nothing-yet">
          {isRunOver(run.status)
            ? translate("The run ended before it had a plan.")
            : translate("The plan appears here when it is ready.")}
        </p>
      ) : (
        <ErrorBoundary key={view} part={PARTS[view]}>
          <Suspense fallback={<p className="loading">{translate("Loading …")}</p>}>
            {view === "graph" && <TaskGraph run={run} opened={opened} onOpen={onOpen} />}
            {view === "table" && (
              <TaskTable
                run={run}
                opened={opened}
                text={find}
                onFind={(words) => onChange({ find: words })}
                onOpen={onOpen}
              />
            )}
            {view === "timeline" && <TaskTimeline run={run} opened={opened} onOpen={onOpen} />}
          </Suspense>
        </ErrorBoundary>
      )}
    </section>
  );
}
