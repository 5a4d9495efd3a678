import { lazy, Suspense, useEffect, useRef } from "react";
import type { ActivityLine } from "./activity.ts";
import { ActivityCard } from "./activity-card.tsx";
import { RunHeader } from "./run-header.tsx";
import { runLook } from "./run-look.ts";
import { RunNotes } from "./run-notes.tsx";
import { TaskSection } from "./task-section.tsx";
import { holdsUp } from "./waiting.ts";
import { LostDrafts } from "../inbox/lost-drafts.tsx";
import { ErrorBoundary } from "../shell/error-boundary.tsx";
import { Link } from "../shell/link.tsx";
import { RUN_TABS, runAddress, type RunTab } from "../shell/page-route.ts";
import { leaveTo, navigate } from "../shell/route.ts";
import { shown } from "../text/safe-text.ts";
import { WorkerPanel } from "../workers/worker-panel.tsx";
import type { Run } from "../../../tutti/src/schema/run.ts";
import { isRunOver } from "../../../tutti/src/schema/status.ts";

const ResultCard = lazy(async () => ({ default: (await import("./result/result-card.tsx")).ResultCard }));
const InboxCards = lazy(async () => ({ default: (await import("./inbox-cards.tsx")).InboxCards }));
const PlanCard = lazy(async () => ({ default: (await import("./plan/plan-card.tsx")).PlanCard }));
const TranscriptPanel = lazy(async () => ({
  default: (await import("../transcript/transcript-panel.tsx")).TranscriptPanel,
}));
const ChangesPanel = lazy(async () => ({ default: (await import("../changes/changes-panel.tsx")).ChangesPanel }));

interface Properties {
  run: Run;
  activity: readonly ActivityLine[];
  warnings: readonly string[];
  opened: string | null;
  tab: RunTab;
  task: string | null;
}

const TAB_NAMES: Record<RunTab, string> = { tasks: "Tasks", changes: "Changes", log: "Log" };

export function LiveRun({ run, activity, warnings, opened, tab, task }: Properties) {
  const questions = Object.values(run.inbox).filter(holdsUp).length;
  const look = runLook(run.status, questions, run.outcome);
  const waiting = questions + (run.status === "confirming" ? 1 : 0);
  const opener = useRef<HTMLElement | null>(null);

  useEffect(() => {
    document.title = `${waiting > 0 ? `(${waiting}) ` : ""}${look.word} · ${shown(run.userRequest, 60)} · Tutti`;
  }, [look.word, waiting, run.userRequest]);

  const open = (session: string) => {
    opener.current = document.activeElement as HTMLElement | null;
    navigate(runAddress(run.id, session, tab));
  };
  const close = () => {
    leaveTo(runAddress(run.id, null, tab));
    // Keyboard users continue at the element that opened the panel.
    opener.current?.focus();
  };

  return (
    <>
      <p className="visually-hidden" role="status">
        {`${look.word}. ${waiting > 0 ? "The run waits for you." : ""}`}
      </p>
      <RunHeader run={run} look={look} />
      <RunNotes run={run} warnings={warnings} />
      <LostDrafts run={run.id} />
      {isRunOver(run.status) && (
        <ErrorBoundary part="The result">
          <Suspense fallback={<p className="loading">Loading …</p>}>
            <ResultCard run={run} />
          </Suspense>
        </ErrorBoundary>
      )}
      {Object.keys(run.inbox).length > 0 && (
        <Suspense fallback={<p className="loading">Loading …</p>}>
          <InboxCards run={run} />
        </Suspense>
      )}
      {run.status === "confirming" && (
        <ErrorBoundary part="The plan">
          <Suspense fallback={<p className="loading">Loading …</p>}>
            <PlanCard key={Object.values(run.inbox).find(({ kind }) => kind === "plan")?.id} run={run} />
          </Suspense>
        </ErrorBoundary>
      )}
      <nav className="tabs" aria-label="Parts of the run">
        {RUN_TABS.map((each) => (
          <Link
            key={each}
            to={runAddress(run.id, opened, each)}
            className={`tab${each === tab ? " is-here" : ""}`}
            current={each === tab}
          >
            {TAB_NAMES[each]}
          </Link>
        ))}
      </nav>
      <div className="run-columns">
        <div className="run-left">
          {tab === "tasks" && (
            <ErrorBoundary part="The tasks">
              <TaskSection run={run} opened={opened} onOpen={open} />
            </ErrorBoundary>
          )}
          {tab === "changes" && (
            <ErrorBoundary part="The changes">
              <Suspense fallback={<p className="loading">Loading …</p>}>
                <ChangesPanel run={run} chosen={task} />
              </Suspense>
            </ErrorBoundary>
          )}
          {tab !== "changes" && <ActivityCard activity={activity} run={run.id} whole={tab === "log"} />}
        </div>
        <ErrorBoundary part="This panel" key={opened}>
          {opened === null ? (
            <WorkerPanel run={run} onOpen={open} />
          ) : (
            <Suspense fallback={<p className="loading">Loading …</p>}>
              <TranscriptPanel key={opened} run={run} name={opened} onClose={close} />
            </Suspense>
          )}
        </ErrorBoundary>
      </div>
    </>
  );
}
