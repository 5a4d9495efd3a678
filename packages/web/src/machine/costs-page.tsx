import { translate } from "../text/language.ts";
import { useLive } from "../live/use-live.ts";
import { ActionError } from "../errors/action-error.tsx";
import { Link } from "../shell/link.tsx";
import { costsAddress, runAddress } from "../shell/page-route.ts";
import { replaceAddress } from "../shell/route.ts";
import { server } from "../shell/server.ts";
import { useRequest } from "../shell/use-request.ts";
import { AgentText } from "../text/agent-text.tsx";
import { compact, count, money } from "../text/format.ts";
import { usePageTitle } from "../text/use-page-title.ts";
import type { UsageGroup, UsageRow } from "../../../tutti/src/schema/api/machine-routes.ts";
import "../styles/machine.css";

const GROUPS: Record<UsageGroup, string> = {
  day: translate("Day"),
  run: translate("Run"),
  agent: translate("Agent"),
  model: translate("Model"),
  template: translate("Template"),
  repository: translate("Folder"),
};

export function CostsPage({ by }: { by: string }) {
  const group = (Object.hasOwn(GROUPS, by) ? by : "day") as UsageGroup;
  // A finished run changes the sums, hence `ended`; a turn within a run shows with the next visit.
  const ended = useLive((state) => state.runs?.filter(({ completedAt }) => completedAt !== null).length ?? 0);
  const { value, error, isLoading } = useRequest(
    `${group} ${ended}`,
    (signal) => server.call("GET /api/usage", { query: { by: group, limit: 10_000 }, signal }),
    group,
  );
  usePageTitle(translate("Costs"));
  const rows: UsageRow[] =
    group === "day" ? (value ?? []).toReversed() : (value ?? []).toSorted((a, b) => b.usd - a.usd);
  const total = rows.reduce((sum, { usd }) => sum + usd, 0);
  const most = Math.max(0, ...rows.map(({ usd }) => usd));
  return (
    <div className="page page-form">
      <div className="page-title">
        <h1>{translate("Costs")}</h1>
        <span className="muted">{value && translate("{total} in all", { total: money(total) })}</span>
      </div>
      <div className="filter-words" role="group" aria-label={translate("Sum by")}>
        {Object.entries(GROUPS).map(([name, word]) => (
          <button
            key={name}
            type="button"
            className={`button${name === group ? " is-chosen" : ""}`}
            aria-pressed={name === group}
            onClick={() => replaceAddress(costsAddress(name))}
          >
            {word}
          </button>
        ))}
      </div>
      <ActionError error={error} />
      {isLoading && value === null && <p className="loading">{translate("Loading …")}</p>}
      {value?.length === 0 && <p className="nothing-yet">{translate("No agent has used tokens yet.")}</p>}
      {rows.length > 0 && (
        <div className="card cost-rows" tabIndex={0} role="region" aria-label={translate("Table of costs")}>
          <table>
            <thead>
              <tr>
                <th scope="col">{GROUPS[group]}</th>
                <th scope="col">{translate("Cost")}</th>
                <th scope="col">{translate("Input tokens")}</th>
                <th scope="col">{translate("Output tokens")}</th>
                <th scope="col">{translate("Turns")}</th>
                <th scope="col">{translate("Runs")}</th>
              </tr>
            </thead>
            <tbody>
              {rows.map(({ key, usd, inputTokens, outputTokens, turns, runs }) => (
                <tr key={key}>
                  <th scope="row">
                    {group === "run" ? <Link to={runAddress(key)}>{key}</Link> : <AgentText text={key} max={120} />}
                  </th>
                  <td>
                    {money(usd)}
                    <span className="cost-bar" aria-hidden="true">
                      <span style={{ width: `${most === 0 ? 0 : (usd / most) * 100}%` }} />
                    </span>
                  </td>
                  <td>{compact(inputTokens)}</td>
                  <td>{compact(outputTokens)}</td>
                  <td>{count(turns)}</td>
                  <td>{count(runs)}</td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
    </div>
  );
}
