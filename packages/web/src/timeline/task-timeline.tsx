import { say, translate } from "../text/language.ts";
import { useEffect, useMemo, useState } from "react";
import { clockStepMs } from "../run/clock.ts";
import { waitsOf } from "./timeline-waits.ts";
import { endingLook } from "../inspector/ending-look.ts";
import { server } from "../shell/server.ts";
import { untilAnswered } from "../errors/until-answered.ts";
import { useNow } from "../shell/use-now.ts";
import { duration } from "../text/format.ts";
import { describePauseReason, PAUSE_WORDS } from "../../../tutti/src/run/describe-event.ts";
import { capitalize } from "../../../tutti/src/sentence.ts";
import { estimatePlan } from "../../../tutti/src/run/plan/estimate.ts";
import type { RunTimeline } from "../../../tutti/src/schema/api/run-values.ts";
import type { PauseReason } from "../../../tutti/src/schema/event.ts";
import type { Run } from "../../../tutti/src/schema/run.ts";
import { isRunOver } from "../../../tutti/src/schema/status.ts";

const REFRESH_MS = 2000;

const toneOf = (ending: string | null): string => {
  if (ending === null) return "running";
  if (ending === "worker:completed") return "good";
  return /failed|timeout|lost/.test(ending) ? "bad" : "neutral";
};

/** A newer server may have a reason that this page does not know. */
const describePause = (reason: string): string =>
  Object.hasOwn(PAUSE_WORDS, reason)
    ? capitalize(describePauseReason(reason as PauseReason, say))
    : translate("Paused");

/** When the session could have started: its task was ready, or the attempt before had ended. */
function readyAt({ tasks }: Run, { sessions }: RunTimeline, taskId: string | null, attempt: number): number {
  const task = tasks.find(({ id }) => id === taskId);
  if (task === undefined) return Number.POSITIVE_INFINITY;
  const before =
    attempt > 1
      ? sessions.filter((each) => each.taskId === taskId && each.attempt === attempt - 1)
      : sessions.filter((each) => task.dependencies.includes(each.taskId ?? "") && each.ending === "worker:completed");
  const ends = before.map(({ endedAt }) => Date.parse(endedAt ?? ""));
  return ends.length === 0 ? Number.POSITIVE_INFINITY : Math.max(...ends);
}

interface Properties {
  run: Run;
  opened: string | null;
  onOpen: (session: string) => void;
}

/** Rows are in the order of the first start. */
export function TaskTimeline({ run, opened, onOpen }: Properties) {
  const [timeline, setTimeline] = useState<RunTimeline | null>(null);
  const isOver = isRunOver(run.status);
  const now = useNow(!isOver, Math.max(REFRESH_MS, clockStepMs(run)));
  // A run at work changes many times a second; its bars need no more than one request per tick, and none without a change.
  const tick = isOver ? run.runSeq : now;
  const seq = useMemo(() => run.runSeq, [tick]);
  useEffect(() => {
    const unmounted = new AbortController();
    const { signal } = unmounted;
    const read = () => server.call("GET /api/orchestrator/:id/timeline", { params: { id: run.id }, signal });
    untilAnswered(read, signal).then(setTimeline, () => {});
    return () => unmounted.abort();
  }, [run.id, seq]);
  if (timeline === null) return <p className="loading">{translate("Loading …")}</p>;
  const starts = timeline.phases.map(({ startedAt }) => Date.parse(startedAt));
  const first = Math.min(...starts);
  const ends = [...timeline.phases, ...timeline.sessions].map(({ endedAt }) => (endedAt ? Date.parse(endedAt) : now));
  const span = Math.max(1, Math.max(...ends) - first);
  const place = (startedAt: string, endedAt: string | null) => {
    const [from, to] = [Date.parse(startedAt) - first, (endedAt ? Date.parse(endedAt) : now) - first];
    return { left: `${(from / span) * 100}%`, width: `${Math.max(0.4, ((to - from) / span) * 100)}%` };
  };
  const { criticalPath } = estimatePlan(run.tasks, 1);
  const longest = new Set(criticalPath.length > 1 ? criticalPath : []);
  return (
    <ol className="timeline" aria-label={translate("Timeline of {time}", { time: duration(span) })}>
      {timeline.sessions.map((session) => {
        const { sessionId, taskId, attempt, startedAt, endedAt, ending, turns } = session;
        const isOpen = opened === (taskId ?? "main");
        return (
          <li key={sessionId} className={isOpen ? "is-open" : undefined}>
            <button
              type="button"
              className="row-button clip"
              aria-current={isOpen ? "true" : undefined}
              onClick={() => onOpen(taskId ?? "main")}
            >
              <code>{taskId ?? "main"}</code>
              {attempt > 1 && (
                <span className="chip">
                  {translate("attempt")} {attempt}
                </span>
              )}
              {longest.has(taskId ?? "") && (
                <span className="chip is-critical" title={translate("On the longest chain of dependent tasks")}>
                  {translate("longest chain")}
                </span>
              )}
            </button>
            <span className="timeline-row">
              {timeline.pauses.map((pause) => (
                <span
                  key={pause.startedAt}
                  className="timeline-bar is-pause"
                  title={describePause(pause.reason)}
                  style={place(pause.startedAt, pause.endedAt)}
                />
              ))}
              {readyAt(run, timeline, taskId, attempt) < Date.parse(startedAt) && (
                <span
                  className="timeline-bar is-queue"
                  title={translate("Waited for a free worker")}
                  style={place(new Date(readyAt(run, timeline, taskId, attempt)).toISOString(), startedAt)}
                />
              )}
              <span
                className={`timeline-bar tone-${toneOf(ending)} is-wait`}
                title={translate("Waited between its turns")}
                style={place(startedAt, endedAt)}
              />
              {turns.map((turn) => (
                <span
                  key={turn.turn}
                  className={`timeline-bar tone-${toneOf(ending)}`}
                  style={place(turn.startedAt, turn.endedAt)}
                />
              ))}
              {waitsOf(timeline, session).map(({ key, word, startedAt: since, endedAt: until }) => (
                <span
                  key={key}
                  className={`timeline-bar tone-you ${until === null ? "is-open-wait" : "is-ended-wait"}`}
                  title={word}
                  style={place(since, until)}
                />
              ))}
            </span>
            <span className="muted">
              {duration((endedAt ? Date.parse(endedAt) : now) - Date.parse(startedAt))}
              <span className="visually-hidden">
                {ending === null ? translate(" so far") : ` ${endingLook(ending).word}`}
              </span>
            </span>
          </li>
        );
      })}
    </ol>
  );
}
