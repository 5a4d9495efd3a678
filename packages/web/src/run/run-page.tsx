import { translate } from "../text/language.ts";
import { useEffect } from "react";
import { LiveRun } from "./live-run.tsx";
import { live } from "../live/live-store.ts";
import { useLive } from "../live/use-live.ts";
import { useRunFeed } from "../live/use-run-feed.ts";
import { Notice } from "../parts/notice.tsx";
import { ProblemCard } from "../errors/problem-card.tsx";
import { Link } from "../shell/link.tsx";
import { RUNS, type RunPlace } from "../shell/page-route.ts";
import "@xyflow/react/dist/base.css";
import "../styles/run.css";
import "../styles/graph.css";
import "../styles/workers.css";
import "../styles/result.css";
import "../styles/transcript.css";

interface Properties {
  id: string;
  place: RunPlace;
}

export function RunPage({ id, place }: Properties) {
  const { run, recent, warnings, isOutdated, error } = useRunFeed(id);
  const refused = useLive((state) => state.error);
  useEffect(() => {
    if (!run) document.title = `${id} · Tutti`;
  }, [id, run]);
  const problem = error ?? (run === null ? refused : null);
  return (
    <div className="page page-run">
      {problem !== null && (
        <ProblemCard error={problem} retry={() => live.retry()}>
          <Link to={RUNS}>{translate("Go to the list of runs")}</Link>
        </ProblemCard>
      )}
      {isOutdated && (
        <Notice tone="warning">
          {translate("This page is older than the server and cannot show everything. Reload it.")}
        </Notice>
      )}
      {run === null && problem === null && <p className="loading">{translate("Loading run …")}</p>}
      {run !== null && <LiveRun run={run} recent={recent} warnings={warnings} place={place} />}
    </div>
  );
}
