import { translate } from "../text/language.ts";
import { subAgentsOf } from "./sub-agents-of.ts";
import { Badge } from "../parts/badge.tsx";
import { AgentText } from "../text/agent-text.tsx";
import { AgentQuote, AgentWords } from "../text/agent-words.tsx";
import { duration, moment } from "../text/format.ts";
import { useNow } from "../shell/use-now.ts";
import type { Run, Subagent } from "../../../tutti/src/schema/run.ts";
import { isRunOver } from "../../../tutti/src/schema/status.ts";

/** Each sub-agent is shown below the one that started it, as `subAgentsOf` orders them. */
export function SubAgents({ run, taskId }: { run: Run; taskId: string | null }) {
  const rows = subAgentsOf(run, taskId);
  const now = useNow(rows.some(([, { endedAt }]) => endedAt === null) && !isRunOver(run.status));
  if (rows.length === 0) return <p className="nothing-yet">{translate("The agent has started no sub-agents.")}</p>;
  return (
    <ol className="tab-rows" aria-label={translate("Sub-sessions")}>
      {rows.map(([id, { description, startedAt, endedAt, status, text, registered }, depth]) => (
        <li key={id} style={{ paddingInlineStart: `${depth * 20}px` }}>
          <div className="tab-row-head">
            <SubAgentBadge status={status} isOpen={endedAt === null && !isRunOver(run.status)} />
            <strong>
              {description === null ? translate("sub-agent") : <AgentWords text={description} max={160} />}
            </strong>
            {registered && <span className="chip">{translate("registered")}</span>}
            <span className="push muted" title={moment(startedAt)}>
              {duration((endedAt ?? (isRunOver(run.status) ? run.updatedAt : now)) - startedAt)}
            </span>
          </div>
          {text !== undefined && (
            <AgentQuote>
              <AgentText text={text} max={400} />
            </AgentQuote>
          )}
          <p className="mono muted">
            <AgentText text={id} max={120} />
          </p>
        </li>
      ))}
    </ol>
  );
}

const ENDS: Record<NonNullable<Subagent["status"]>, string> = {
  completed: translate("completed#task"),
  failed: translate("failed#task"),
  cancelled: translate("cancelled#task"),
};

function SubAgentBadge({ status, isOpen }: { status: Subagent["status"]; isOpen: boolean }) {
  if (isOpen) {
    return (
      <Badge tone="running" icon="dot">
        {translate("Working")}
      </Badge>
    );
  }
  const isGood = status === undefined || status === "completed";
  return (
    <Badge tone={isGood ? "good" : "bad"} icon={isGood ? "check" : "cross"}>
      {status === undefined ? translate("ended") : ENDS[status]}
    </Badge>
  );
}
