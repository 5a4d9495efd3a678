// Active workers come first, each with a card; ended and waiting tasks are one line each.
import { MainCard } from "./main-card.tsx";
import { TaskLine } from "./task-line.tsx";
import { WorkerCard } from "./worker-card.tsx";
import { taskStanding } from "../../../tutti/src/run/census.ts";
import type { Run } from "../../../tutti/src/schema/run.ts";
import type { Task } from "../../../tutti/src/schema/task.ts";
import { isRunOver } from "../../../tutti/src/schema/status.ts";
import { useNow } from "../shell/use-now.ts";

interface Properties {
  run: Run;
  opened: string | null;
  onOpen: (session: string) => void;
}

export function WorkerPanel({ run, opened, onOpen }: Properties) {
  const now = useNow(!isRunOver(run.status));
  const active: Task[] = [];
  const waiting: Task[] = [];
  const ended: Task[] = [];
  for (const task of run.tasks) {
    const standing = taskStanding(run, task.id);
    const group = standing === "active" ? active : standing === "neverStarted" ? waiting : ended;
    group.push(task);
  }
  return (
    <section className="workers" aria-labelledby="workers-title">
      <h2 id="workers-title" className="visually-hidden">
        Workers
      </h2>
      <MainCard run={run} now={now} opened={opened === "main"} onOpen={() => onOpen("main")} />
      {active.length > 0 && (
        <>
          <h3 className="group-title">
            Working <span className="muted">{active.length}</span>
          </h3>
          {active.map(({ id }) => (
            <WorkerCard
              key={id}
              worker={run.workers[id]!}
              run={run}
              now={now}
              opened={opened === id}
              onOpen={() => onOpen(id)}
            />
          ))}
        </>
      )}
      <Lines title="Ended" tasks={ended} run={run} opened={opened} onOpen={onOpen} />
      {run.status !== "confirming" && (
        <Lines
          title={isRunOver(run.status) ? "Never started" : "Waiting"}
          tasks={waiting}
          run={run}
          opened={opened}
          onOpen={onOpen}
        />
      )}
    </section>
  );
}

function Lines({ title, tasks, ...rest }: Properties & { title: string; tasks: Task[] }) {
  if (tasks.length === 0) return null;
  return (
    <>
      <h3 className="group-title">
        {title} <span className="muted">{tasks.length}</span>
      </h3>
      <ul className="task-lines card">
        {tasks.map((task) => (
          <TaskLine
            key={task.id}
            task={task}
            run={rest.run}
            opened={rest.opened === task.id}
            onOpen={() => rest.onOpen(task.id)}
          />
        ))}
      </ul>
    </>
  );
}
