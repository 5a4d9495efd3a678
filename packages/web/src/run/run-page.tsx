import { useEffect } from "react";
import { LiveRun } from "./live-run.tsx";
import { useRunFeed } from "./use-run-feed.ts";
import { ProblemCard } from "../shell/problem-card.tsx";
import { TopBar } from "../shell/top-bar.tsx";

/** `opened` is the task id, or `main`, whose transcript is open. */
export function RunPage({ id, opened }: { id: string; opened: string | null }) {
  const { run, activity, warnings, connection, error, retry } = useRunFeed(id);
  useEffect(() => {
    if (!run) document.title = `${id} · Tutti`;
  }, [id, run]);
  return (
    <>
      <TopBar {...(run ? { connection } : {})}>
        <span className="path-mark" aria-hidden="true">
          /
        </span>
        <span className="mono" aria-current="page">
          {id}
        </span>
      </TopBar>
      <main className="page page-run">
        {error !== null && <ProblemCard error={error} retry={retry} />}
        {run === null && error === null && <p className="loading">Loading run …</p>}
        {run !== null && <LiveRun run={run} activity={activity} warnings={warnings} opened={opened} />}
      </main>
    </>
  );
}
