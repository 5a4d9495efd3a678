import { translate } from "../text/language.ts";
import { useEffect, useState } from "react";
import { server } from "../shell/server.ts";
import { useNow } from "../shell/use-now.ts";
import { duration } from "../text/format.ts";
import { estimatePlan } from "../../../tutti/src/run/plan/estimate.ts";
import type { RunTimeline } from "../../../tutti/src/schema/api/run-values.ts";
import type { Run } from "../../../tutti/src/schema/run.ts";
import { isRunOver } from "../../../tutti/src/schema/status.ts";

const REFRESH_MS = 2000;

const toneOf = (ending: string | null): string => {
  if (ending === null) return "running";
  if (ending === "worker:completed") return "good";
  return /failed|timeout|lost/.test(ending) ? "bad" : "neutral";
};

/** Rows are in the order of the first start. */
export function TaskTimeline({ run, onOpen }: { run: Run; onOpen: (session: string) => void }) {
  const [timeline, setTimeline] = useState<RunTimeline | null>(null);
  const isOver = isRunOver(run.status);
  const now = useNow(!isOver, REFRESH_MS);
  // A run at work changes many times a second; its bars need no more than one request per `REFRESH_MS`.
  const tick = isOver ? run.runSeq : Math.floor(now / REFRESH_MS);
  useEffect(() => {
    const unmounted = new AbortController();
    server
      .call("GET /api/orchestrator/:id/timeline", { params: { id: run.id }, signal: unmounted.signal })
      .then(setTimeline, () => {});
    return () => unmounted.abort();
  }, [run.id, tick]);
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
      {timeline.sessions.map(({ sessionId, taskId, attempt, startedAt, endedAt, ending, turns }) => (
        <li key={sessionId}>
          <button type="button" className="row-button clip" onClick={() => onOpen(taskId ?? "main")}>
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
                title={translate("Paused: {reason}", { reason: pause.reason })}
                style={place(pause.startedAt, pause.endedAt)}
              />
            ))}
            <span className={`timeline-bar tone-${toneOf(ending)} is-wait`} style={place(startedAt, endedAt)} />
            {turns.map((turn) => (
              <span
                key={turn.turn}
                className={`timeline-bar tone-${toneOf(ending)}`}
                style={place(turn.startedAt, turn.endedAt)}
              />
            ))}
          </span>
          <span className="muted">
            {duration((endedAt ? Date.parse(endedAt) : now) - Date.parse(startedAt))}
            <span className="visually-hidden">
              {ending === null ? translate(" so far") : ` ${ending.replace(/^\w+:/, "")}`}
            </span>
          </span>
        </li>
      ))}
    </ol>
  );
}
