import { translate } from "../text/language.ts";
import type { ListedRun } from "../../../tutti/src/client/run-summary.ts";
import { isRunOver } from "../../../tutti/src/schema/status.ts";
import type { StatusStyle } from "../run/run-look.ts";
import { Badge } from "../parts/badge.tsx";
import { Link } from "../shell/link.tsx";
import { runAddress } from "../shell/page-route.ts";
import { Meter } from "../parts/meter.tsx";
import { AgentText } from "../text/agent-text.tsx";
import { agentName, ago, duration, lastPart, moment, money, plural } from "../text/format.ts";
import { shown, visible } from "../text/safe-text.ts";

interface Properties {
  run: ListedRun;
  look: StatusStyle;
  /** Its place in a list of `count` rows, of which only some are rendered. */
  index: number;
  count: number;
  questions: number;
  /** The most costly of its waiting items. */
  wait: string | undefined;
  now: number;
  isSelected: boolean;
  onSelect: (id: string, isSelected: boolean) => void;
}

export function RunRow({ run, look, index, count, questions, wait, now, isSelected, onSelect }: Properties) {
  return (
    <li className="run-item" aria-setsize={count} aria-posinset={index + 1}>
      <input
        type="checkbox"
        className="run-check"
        aria-label={translate("Select {id}", { id: run.id })}
        checked={isSelected}
        onChange={({ target }) => onSelect(run.id, target.checked)}
      />
      <Link to={runAddress(run.id)} className={`run-row${look.tone === "you" || questions > 0 ? " needs-you" : ""}`}>
        <span className="run-row-status">
          <Badge tone={look.tone} icon={look.icon}>
            {look.word}
          </Badge>
        </span>
        <span className="run-row-what">
          {/* `dir` on the clipped box itself: the end of a line is clipped, on whichever side it is. */}
          <span className="run-row-request agent-text" dir="auto">
            {shown(run.userRequest, 240)}
          </span>
          <span className="run-row-facts">
            <span className="clip" title={visible(run.cwd)}>
              <AgentText text={lastPart(run.cwd)} max={80} />
            </span>
            <span>{run.templateId}</span>
            <span className="clip" title={visible(run.agent)}>
              <AgentText text={agentName(run.agent)} max={80} />
            </span>
            <span className="mono">{run.id}</span>
            {(run.usage.usd > 0 || run.budget?.usd !== undefined) && (
              <span className={isNearBudget(run) ? "tone-warning near-budget" : undefined}>
                {money(run.usage.usd)}
                {run.budget?.usd !== undefined && translate(" of {usd}", { usd: money(run.budget.usd) })}
              </span>
            )}
          </span>
        </span>
        <span className="run-row-tasks">{tasks(run, questions, wait)}</span>
        <span className="run-row-time">
          <time dateTime={run.createdAt} title={moment(Date.parse(run.createdAt))}>
            {ago(Date.parse(run.createdAt), now)}
          </time>
          {run.startedAt !== null && (
            <span className="muted">{duration(endOf(run, now) - Date.parse(run.startedAt))}</span>
          )}
        </span>
      </Link>
    </li>
  );
}

const isNearBudget = ({ usage, budget }: ListedRun): boolean =>
  budget?.usd !== undefined && usage.usd > budget.usd * 0.9;

/** A paused run keeps its duration, hence `updatedAt`. */
function endOf({ status, completedAt, updatedAt }: ListedRun, now: number): number {
  if (isRunOver(status) && completedAt !== null) return Date.parse(completedAt);
  return status === "paused" ? Date.parse(updatedAt) : now;
}

function tasks({ status, taskCount, completedTasks }: ListedRun, questions: number, wait: string | undefined) {
  if (status === "confirming") return translate("Plan of {tasks} to confirm", { tasks: plural(taskCount, "task") });
  if (questions > 0)
    return (
      <>
        <span>{translate("{items} for you", { items: plural(questions, "item") })}</span>
        <span className="muted clip" title={wait}>
          {wait}
        </span>
      </>
    );
  if (taskCount === 0) return <span className="muted">{translate("No tasks yet")}</span>;
  return (
    <>
      <span>{translate("{completed} of {tasks} tasks", { completed: completedTasks, tasks: taskCount })}</span>
      <Meter
        value={completedTasks}
        max={taskCount}
        tone={isRunOver(status) && completedTasks < taskCount ? "warning" : "good"}
        label={translate("Tasks completed")}
      />
    </>
  );
}
