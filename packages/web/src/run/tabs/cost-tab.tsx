import { translate } from "../../text/language.ts";
import { FactList } from "../../parts/fact-list.tsx";
import { Meter } from "../../parts/meter.tsx";
import { ActionError } from "../../errors/action-error.tsx";
import { server } from "../../shell/server.ts";
import { useRequest } from "../../shell/use-request.ts";
import { AgentText } from "../../text/agent-text.tsx";
import { agentName, compact, count, money } from "../../text/format.ts";
import { taskStanding } from "../../../../tutti/src/run/census.ts";
import type { Run } from "../../../../tutti/src/schema/run.ts";
import { isRunOver } from "../../../../tutti/src/schema/status.ts";
import "../../styles/machine.css";

export function CostTab({ run, onOpen }: { run: Run; onOpen: (session: string) => void }) {
  // Each ended turn adds to `usage`, so the key contains its sums.
  const { value, error } = useRequest(`${run.id} ${run.turns} ${run.usage.usd} ${run.usage.inputTokens}`, (signal) =>
    server.call("GET /api/orchestrator/:id/usage", { params: { id: run.id }, signal }),
  );
  const { usage, budget } = run;
  const rows = (value?.sessions ?? []).toSorted(
    (a, b) => b.usage.usd - a.usage.usd || b.usage.outputTokens - a.usage.outputTokens,
  );
  const most = Math.max(0, ...rows.map(({ usage: { usd } }) => usd));
  return (
    <section className="card run-tab" aria-labelledby="cost-tab-title">
      <h2 id="cost-tab-title">
        {translate("Cost")} <span className="muted">{money(usage.usd)}</span>
      </h2>
      {budget.usd !== undefined && (
        <Meter
          value={usage.usd}
          max={budget.usd}
          tone={usage.usd > budget.usd * 0.9 ? "warning" : "running"}
          label={translate("Used part of the budget")}
        />
      )}
      <FactList
        rows={[
          [
            translate("Used"),
            translate("{usd}, {inputTokens} input and {outputTokens} output tokens", {
              usd: money(usage.usd),
              inputTokens: count(usage.inputTokens),
              outputTokens: count(usage.outputTokens),
            }),
          ],
          [
            translate("Budget"),
            budget.usd === undefined
              ? translate("no limit in dollars")
              : translate("{usd}, {left} left", {
                  usd: money(budget.usd),
                  left: money(Math.max(0, budget.usd - usage.usd)),
                }),
          ],
          [
            translate("Turns"),
            budget.turns === undefined
              ? run.turns
              : translate("{turns} of {most}", { turns: run.turns, most: budget.turns }),
          ],
          [translate("Forecast"), forecast(run)],
        ]}
      />
      <ActionError error={error} />
      {rows.length > 0 && (
        <div className="cost-rows" tabIndex={0} role="region" aria-label={translate("Cost by session")}>
          <table>
            <thead>
              <tr>
                <th scope="col">{translate("Session")}</th>
                <th scope="col">{translate("Agent")}</th>
                <th scope="col">{translate("Cost")}</th>
                <th scope="col">{translate("Input tokens")}</th>
                <th scope="col">{translate("Output tokens")}</th>
                <th scope="col">{translate("Turns")}</th>
                <th scope="col">{translate("Tool calls")}</th>
              </tr>
            </thead>
            <tbody>
              {rows.map(({ sessionId, taskId, usage: used, turns, toolStats }) => (
                <tr key={sessionId}>
                  <th scope="row">
                    <button
                      type="button"
                      className="row-button"
                      title={sessionId}
                      onClick={() => onOpen(taskId ?? "main")}
                    >
                      <code>{taskId ?? "main"}</code>
                      {attemptNote(run, taskId, sessionId)}
                    </button>
                  </th>
                  <td>
                    <AgentText text={agentOf(run, taskId)} max={60} />
                  </td>
                  <td>
                    {money(used.usd)}
                    <span className="cost-bar" aria-hidden="true">
                      <span style={{ width: `${most === 0 ? 0 : (used.usd / most) * 100}%` }} />
                    </span>
                  </td>
                  <td>{compact(used.inputTokens)}</td>
                  <td>{compact(used.outputTokens)}</td>
                  <td>{count(turns)}</td>
                  <td>{count(toolStats.total)}</td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
    </section>
  );
}

const attemptNote = ({ workers }: Run, taskId: string | null, sessionId: string): string => {
  const newest = taskId === null ? undefined : workers[taskId];
  return newest === undefined || newest.sessionId === sessionId ? "" : translate(" (earlier attempt)");
};

const agentOf = (run: Run, taskId: string | null): string => {
  const session = taskId === null ? run.main : run.workers[taskId]?.session;
  return [agentName(session?.agent ?? run.agent), session?.model].filter(Boolean).join(" ");
};

/** Assumes that each open task costs as much as a completed one on average. */
function forecast(run: Run): string | null {
  if (isRunOver(run.status) || run.usage.usd === 0) return null;
  const standings = run.tasks.map(({ id }) => taskStanding(run, id));
  const completed = standings.filter((standing) => standing === "completed").length;
  const open = standings.filter((standing) => standing === "active" || standing === "neverStarted").length;
  if (completed === 0) return null;
  const spent = Object.values(run.workers).reduce(
    (sum, { status, usage }) => sum + (status === "completed" ? usage.usd : 0),
    0,
  );
  return translate("about {usd}, if each of {open} open tasks costs as much as a completed one", {
    usd: money(run.usage.usd + (spent / completed) * open),
    open,
  });
}
