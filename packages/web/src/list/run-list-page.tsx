import { translate } from "../text/language.ts";
import { useMemo, useState } from "react";
import { BulkBar } from "./bulk-bar.tsx";
import { EmptyList } from "./empty-list.tsx";
import { byCost, titleOf } from "../inbox/item-look.ts";
import { listLook } from "./list-look.ts";
import { filterRuns, orderRuns, RUN_GROUPS } from "./order-runs.ts";
import { RunGroup } from "./run-group.tsx";
import { ViewBar } from "./view-bar.tsx";
import { live } from "../live/live-store.ts";
import { useLive } from "../live/use-live.ts";
import { Link } from "../shell/link.tsx";
import { ProblemCard } from "../errors/problem-card.tsx";
import { NEW_RUN, RUNS, runsAddress, type RunFilter } from "../shell/page-route.ts";
import { replaceAddress } from "../shell/route.ts";
import { useNow } from "../shell/use-now.ts";
import { count, plural } from "../text/format.ts";
import { usePageTitle } from "../text/use-page-title.ts";
import type { ListedRun } from "../../../tutti/src/client/run-summary.ts";
import { isRunOver } from "../../../tutti/src/schema/status.ts";
import "../styles/list.css";

export function RunListPage({ filter }: { filter: RunFilter }) {
  const runs = useLive((state) => state.runs);
  const inbox = useLive((state) => state.inbox);
  const error = useLive((state) => state.error);
  const [selected, setSelected] = useState<ReadonlySet<string>>(new Set());
  const all = orderRuns(runs ?? [], inbox);
  const now = useNow(true, runs?.some((run) => !isRunOver(run.status)) ? 1000 : 30_000);
  // The map keeps the last item of each run, so the reversed order leaves the most costly one.
  const waits = useMemo(
    () =>
      new Map(
        byCost(inbox)
          .map((item) => [item.run, titleOf(item)] as const)
          .toReversed(),
      ),
    [inbox],
  );
  const waiting = all.needsYou.length;
  usePageTitle(`${waiting > 0 ? `(${waiting}) ` : ""}${translate("Runs")}`);
  const isFiltered = filter.state !== "" || filter.text !== "";
  const lookOf = (run: ListedRun) => listLook(run, all.questions.get(run.id) ?? 0, now, live.eventAt(run.id));
  const select = (part: readonly ListedRun[]) => filterRuns(part, filter, all.questions, lookOf);
  const [needsYou, others] = [select(all.needsYou), select(all.others)];
  const found = needsYou.length + others.length;
  const shown = [...needsYou, ...others];
  const chosen = shown.filter(({ id }) => selected.has(id));
  const onSelect = (id: string, isSelected: boolean) =>
    setSelected((now) => new Set(isSelected ? [...now, id] : [...now].filter((each) => each !== id)));

  const selectAll = () => setSelected(new Set(shown.map(({ id }) => id)));

  return (
    <div className="page page-list">
      {runs === null && error === null && <p className="loading">{translate("Loading runs …")}</p>}
      {error !== null && <ProblemCard error={error} retry={() => live.retry()} />}
      {runs !== null && (
        <>
          <div className="page-title">
            <h1>{translate("Runs")}</h1>
            <span className="muted">
              {isFiltered
                ? translate("{found} of {runs}", { found: count(found), runs: plural(runs.length, "run") })
                : plural(runs.length, "run")}
            </span>
            {found > 0 && chosen.length === 0 && (
              <button type="button" className="button push" onClick={selectAll}>
                {translate("Select all {number}", { number: count(found) })}
              </button>
            )}
            <Link to={NEW_RUN} className={`button button-primary${found > 0 && chosen.length === 0 ? "" : " push"}`}>
              {translate("New run")}
            </Link>
          </div>
          <p className="visually-hidden" role="status">
            {waiting > 0 ? translate("{runs} waiting for you", { runs: plural(waiting, "run") }) : ""}
          </p>
          {runs.length > 0 && <Filters filter={filter} />}
          <ViewBar filter={filter} />
          {chosen.length > 0 && (
            <BulkBar
              runs={chosen}
              onAll={chosen.length === found ? null : selectAll}
              onDone={(ids) => setSelected((now) => new Set([...now].filter((id) => !ids.includes(id))))}
            />
          )}
          {runs.length === 0 && <EmptyList />}
          {runs.length > 0 && found === 0 && (
            <p className="nothing-yet">
              {translate("No run matches the filter.")} <Link to={RUNS}>{translate("Clear the filter")}</Link>
            </p>
          )}
          <RunGroup
            title={translate("Needs you")}
            runs={needsYou}
            lookOf={lookOf}
            questions={all.questions}
            waits={waits}
            now={now}
            selected={selected}
            onSelect={onSelect}
          />
          <RunGroup
            title={needsYou.length > 0 ? translate("Other runs") : null}
            runs={others}
            lookOf={lookOf}
            questions={all.questions}
            waits={waits}
            now={now}
            selected={selected}
            onSelect={onSelect}
          />
        </>
      )}
    </div>
  );
}

function Filters({ filter }: { filter: RunFilter }) {
  const change = (part: Partial<RunFilter>) => replaceAddress(runsAddress({ ...filter, ...part }));
  return (
    <search className="filters">
      <input
        className="field"
        type="search"
        aria-label={translate("Find runs")}
        placeholder={translate("Request, folder, template, agent")}
        value={filter.text}
        onChange={({ target }) => change({ text: target.value })}
      />
      <div className="filter-words" role="group" aria-label={translate("State")}>
        {[["", { name: translate("All") }] as const, ...Object.entries(RUN_GROUPS)].map(([state, { name }]) => (
          <button
            key={state}
            type="button"
            className={`button${filter.state === state ? " is-chosen" : ""}`}
            aria-pressed={filter.state === state}
            onClick={() => change({ state })}
          >
            {name}
          </button>
        ))}
      </div>
    </search>
  );
}
