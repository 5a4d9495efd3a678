import { TaskGraph } from "../graph/task-graph.tsx";
import type { Run } from "../../../tutti/src/schema/run.ts";
import { isRunOver } from "../../../tutti/src/schema/status.ts";
import { plural } from "../text/format.ts";

interface Properties {
  run: Run;
  opened: string | null;
  onOpen: (session: string) => void;
}

export function TaskSection({ run, opened, onOpen }: Properties) {
  return (
    <section className="card task-section" aria-labelledby="tasks-title">
      <h2 id="tasks-title" className="card-title">
        Tasks {run.tasks.length > 0 && <span className="muted">{plural(run.tasks.length, "task")}</span>}
      </h2>
      {run.tasks.length > 0 ? (
        <TaskGraph run={run} opened={opened} onOpen={onOpen} />
      ) : (
        <p className="nothing-yet">
          {isRunOver(run.status) ? "The run ended before it had a plan." : "The plan appears here when it is ready."}
        </p>
      )}
    </section>
  );
}
