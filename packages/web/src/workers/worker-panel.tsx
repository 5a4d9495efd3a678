// `WorkerPanel` shows active workers first, each with a card; ended and waiting tasks are one line each.
import { translate } from "../text/language.ts";
import { MainCard } from "./main-card.tsx";
import { TaskLine } from "./task-line.tsx";
import { WorkerCard } from "./worker-card.tsx";
import { clockStepMs } from "../run/clock.ts";
import { taskLook } from "../run/task-look.ts";
import { taskStanding } from "../../../tutti/src/run/census.ts";
import type { Run } from "../../../tutti/src/schema/run.ts";
import type { Task } from "../../../tutti/src/schema/task.ts";
import { isRunOver } from "../../../tutti/src/schema/status.ts";
import { useNow } from "../shell/use-now.ts";

interface Properties {
  run: Run;
  onOpen: (session: string) => void;
}

/** `TaskTable` has the lines after `MOST_LINES`. On a phone they would push the tasks themselves off the screen. */
const MOST_LINES = 12;

export function WorkerPanel({ run, onOpen }: Properties) {
  const now = useNow(!isRunOver(run.status) && run.status !== "paused", clockStepMs(run));
  const groups: Record<"you" | "active" | "paused" | "waiting" | "ended", Task[]> = {
    you: [],
    active: [],
    paused: [],
    waiting: [],
    ended: [],
  };
  for (const task of run.tasks) {
    const standing = taskStanding(run, task.id);
    const isPaused = standing === "active" && run.workers[task.id]!.status === "paused";
    const needsYou = standing === "active" && taskLook(run, task).tone === "you";
    const open = needsYou ? "you" : isPaused ? "paused" : "active";
    groups[standing === "active" ? open : standing === "neverStarted" ? "waiting" : "ended"].push(task);
  }
  const hasFailed = ({ id }: Task) => (run.workers[id]?.error ? 1 : 0);
  groups.ended.sort((a, b) => hasFailed(b) - hasFailed(a));
  const cards = (title: string, tasks: Task[]) =>
    tasks.length > 0 && (
      <>
        <h3 className="group-title">
          {title} <span className="muted">{tasks.length}</span>
        </h3>
        {tasks.map(({ id }) => (
          <WorkerCard key={id} worker={run.workers[id]!} run={run} now={now} onOpen={() => onOpen(id)} />
        ))}
      </>
    );
  return (
    <section className="workers" aria-labelledby="workers-title">
      <h2 id="workers-title" className="visually-hidden">
        {translate("Workers")}
      </h2>
      <MainCard run={run} now={now} onOpen={() => onOpen("main")} />
      {cards(translate("Needs you"), groups.you)}
      {cards(translate("Working"), groups.active)}
      {cards(translate("Paused"), groups.paused)}
      <Lines title={translate("Ended")} tasks={groups.ended} run={run} onOpen={onOpen} />
      {run.status !== "confirming" && (
        <Lines
          title={isRunOver(run.status) ? translate("Never started") : translate("Waiting")}
          tasks={groups.waiting}
          run={run}
          onOpen={onOpen}
        />
      )}
    </section>
  );
}

function Lines({ title, tasks, run, onOpen }: Properties & { title: string; tasks: Task[] }) {
  if (tasks.length === 0) return null;
  return (
    <>
      <h3 className="group-title">
        {title} <span className="muted">{tasks.length}</span>
      </h3>
      <ul className="task-lines card">
        {tasks.slice(0, MOST_LINES).map((task) => (
          <TaskLine key={task.id} task={task} run={run} onOpen={onOpen} />
        ))}
        {tasks.length > MOST_LINES && (
          <li className="muted more-lines">
            {translate("and {count} more in the table", { count: tasks.length - MOST_LINES })}
          </li>
        )}
      </ul>
    </>
  );
}
