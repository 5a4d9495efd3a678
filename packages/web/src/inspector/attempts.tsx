import { translate } from "../text/language.ts";
import { Badge } from "../parts/badge.tsx";
import { endingLook } from "./ending-look.ts";
import type { StatusStyle } from "../run/run-look.ts";
import { ActionError } from "../errors/action-error.tsx";
import { Link } from "../shell/link.tsx";
import { runAddress, type RunPlace } from "../shell/page-route.ts";
import { server } from "../shell/server.ts";
import { useRequest } from "../shell/use-request.ts";
import { FailureText } from "../text/failure-text.tsx";
import { compact, duration, moment, money, plural } from "../text/format.ts";
import type { RunTimeline, RunUsage } from "../../../tutti/src/schema/api/run-values.ts";
import type { Run } from "../../../tutti/src/schema/run.ts";

interface Properties {
  run: Run;
  place: RunPlace;
  taskId: string | null;
}

type Reason = Pick<Run["workers"][string], "error" | "errorCode">;
type AttemptRow = RunTimeline["sessions"][number] & { reason: Reason; used: RunUsage["sessions"][number] | null };

export function Attempts({ run, place, taskId }: Properties) {
  const newest = taskId === null ? run.main : run.workers[taskId];
  const key = `${run.id} ${taskId} ${newest?.attempt} ${run.turns} ${run.status}`;
  const { value, error } = useRequest(key, (signal) => readAttempts(run.id, taskId, signal));
  return (
    <>
      <ActionError error={error} />
      {value?.length === 0 && <p className="nothing-yet">{translate("It has not started yet.")}</p>}
      <ol className="tab-rows" aria-label={translate("Attempts")}>
        {value?.toReversed().map(({ sessionId, attempt, startedAt, endedAt, ending, turns, reason, used }) => {
          const { word, tone, icon }: StatusStyle =
            ending === null ? { word: translate("Working"), tone: "running", icon: "dot" } : endingLook(ending);
          return (
            <li key={sessionId}>
              <div className="tab-row-head">
                <Badge tone={tone} icon={icon}>
                  {word}
                </Badge>
                <Link to={runAddress(run.id, { ...place, part: "transcript", attempt, entry: null })}>
                  {translate("Attempt {attempt}", { attempt })}
                </Link>
                <span className="push muted">
                  {duration((endedAt === null ? Date.now() : Date.parse(endedAt)) - Date.parse(startedAt))}
                </span>
              </div>
              {reason.error !== null && (
                <p>
                  <FailureText error={reason.error} code={reason.errorCode} max={600} />
                </p>
              )}
              <p className="muted">
                {[
                  translate("started {time}", { time: moment(Date.parse(startedAt)) }),
                  plural(turns.length, "turn"),
                  used && plural(used.toolStats.total, "tool call"),
                  used &&
                    translate("{tokens} tokens", {
                      tokens: compact(used.usage.inputTokens + used.usage.outputTokens),
                    }),
                  used && used.usage.usd > 0 && money(used.usage.usd),
                ]
                  .filter(Boolean)
                  .join(" · ")}
              </p>
            </li>
          );
        })}
      </ol>
    </>
  );
}

async function readAttempts(id: string, taskId: string | null, signal: AbortSignal): Promise<AttemptRow[]> {
  const [timeline, usage] = await Promise.all([
    server.call("GET /api/orchestrator/:id/timeline", { params: { id }, signal }),
    server.call("GET /api/orchestrator/:id/usage", { params: { id }, signal }),
  ]);
  const sessions = timeline.sessions.filter((session) => session.taskId === taskId);
  return Promise.all(
    sessions.map(async (session) => ({
      ...session,
      reason: taskId === null ? NO_REASON : await readReason(id, session.sessionId, signal),
      used: usage.sessions.find(({ sessionId }) => sessionId === session.sessionId) ?? null,
    })),
  );
}

const NO_REASON: Reason = { error: null, errorCode: null };

const readReason = (id: string, key: string, signal: AbortSignal): Promise<Reason> =>
  server.call("GET /api/orchestrator/:id/workers/:key", { params: { id, key }, signal });
