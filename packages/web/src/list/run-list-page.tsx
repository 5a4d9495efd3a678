import { useEffect } from "react";
import { EmptyList } from "./empty-list.tsx";
import { orderRuns } from "./order-runs.ts";
import { RunGroup } from "./run-group.tsx";
import { useRunList } from "./use-run-list.ts";
import { isRunOver } from "../../../tutti/src/schema/status.ts";
import { ProblemCard } from "../shell/problem-card.tsx";
import { TopBar } from "../shell/top-bar.tsx";
import { useNow } from "../shell/use-now.ts";
import { plural } from "../text/format.ts";

export function RunListPage() {
  const { runs, inbox, connection, error, retry } = useRunList();
  const { needsYou, others, questions } = orderRuns(runs ?? [], inbox);
  const now = useNow(true, runs?.some((run) => !isRunOver(run.status)) ? 1000 : 30_000);
  useEffect(() => {
    document.title = needsYou.length > 0 ? `(${needsYou.length}) Runs · Tutti` : "Runs · Tutti";
  }, [needsYou.length]);

  return (
    <>
      <TopBar connection={connection} />
      <main className="page page-list">
        {runs === null && error === null && <p className="loading">Loading runs …</p>}
        {error !== null && <ProblemCard error={error} retry={retry} />}
        {runs !== null && (
          <>
            <div className="page-title">
              <h1>Runs</h1>
              <span className="muted">{plural(runs.length, "run")}</span>
            </div>
            <p className="visually-hidden" role="status">
              {needsYou.length > 0 ? `${plural(needsYou.length, "run")} waiting for you` : ""}
            </p>
            {runs.length === 0 && <EmptyList />}
            <RunGroup title="Needs you" runs={needsYou} questions={questions} now={now} />
            <RunGroup title={needsYou.length > 0 ? "Other runs" : null} runs={others} questions={questions} now={now} />
          </>
        )}
      </main>
    </>
  );
}
