import { translate } from "../text/language.ts";
import { Suspense, useLayoutEffect, useRef, type ReactNode } from "react";
import { RunHeader } from "./run-header.tsx";
import { lookAtWork, runLook } from "./run-look.ts";
import { RunTabs } from "./run-tabs.tsx";
import { TaskSection } from "./task-section.tsx";
import { holdsUp } from "./waiting.ts";
import { live } from "../live/live-store.ts";
import { ErrorBoundary } from "../errors/error-boundary.tsx";
import { useKeys } from "../shell/keys.ts";
import { RUN_TABS, runAddress, withSession, type RunPlace } from "../shell/page-route.ts";
import { leaveTo, navigate, replaceAddress } from "../shell/route.ts";
import { useIsWide } from "../shell/use-is-wide.ts";
import { useNow } from "../shell/use-now.ts";
import { shown } from "../text/safe-text.ts";
import { usePageTitle } from "../text/use-page-title.ts";
import type { StoredEvent } from "../../../tutti/src/schema/event.ts";
import type { Run } from "../../../tutti/src/schema/run.ts";
import { isRunOver } from "../../../tutti/src/schema/status.ts";
import { lazyPart } from "../shell/lazy-part.ts";

const LostDrafts = lazyPart(async () => (await import("../inbox/lost-drafts.tsx")).LostDrafts);
const RunNotes = lazyPart(async () => (await import("./run-notes.tsx")).RunNotes);
const ActivityCard = lazyPart(async () => (await import("./activity-card.tsx")).ActivityCard);
const ResultCard = lazyPart(async () => (await import("./result/result-card.tsx")).ResultCard);
const InboxCards = lazyPart(async () => (await import("./inbox-cards.tsx")).InboxCards);
const PlanCard = lazyPart(async () => (await import("./plan/plan-card.tsx")).PlanCard);
const TranscriptPanel = lazyPart(async () => (await import("../transcript/transcript-panel.tsx")).TranscriptPanel);
const WorkerPanel = lazyPart(async () => (await import("../workers/worker-panel.tsx")).WorkerPanel);
const ChangesPanel = lazyPart(async () => (await import("../changes/changes-panel.tsx")).ChangesPanel);
const PlanTab = lazyPart(async () => (await import("./tabs/plan-tab.tsx")).PlanTab);
const ChecksTab = lazyPart(async () => (await import("./tabs/checks-tab.tsx")).ChecksTab);
const CostTab = lazyPart(async () => (await import("./tabs/cost-tab.tsx")).CostTab);
const LogTab = lazyPart(async () => (await import("./tabs/log-tab.tsx")).LogTab);
const MessagesTab = lazyPart(async () => (await import("./tabs/messages-tab.tsx")).MessagesTab);

interface Properties {
  run: Run;
  recent: readonly StoredEvent[];
  warnings: readonly string[];
  place: RunPlace;
}

/** How often the page asks itself whether the run has stalled. */
const CHECK_QUIET_MS = 5000;

export function LiveRun({ run, recent, warnings, place }: Properties) {
  const { session: opened, tab } = place;
  const questions = Object.values(run.inbox).filter(holdsUp).length;
  const style = runLook(run.status, questions, run.outcome);
  const now = useNow(style.tone === "running", CHECK_QUIET_MS);
  const look = lookAtWork(style, {
    isHeld: run.heldSince !== undefined,
    quietForMs: now - Math.max(run.updatedAt, live.eventAt(run.id)),
    quietAfterMs: run.template.config.progressDetectionInterval,
  });
  const waiting = questions + (run.status === "confirming" ? 1 : 0);
  // A wide `PlanCard` has the graph itself.
  const hasPlanGraph = useIsWide() && run.status === "confirming" && run.tasks.length > 0;
  const opener = useRef<HTMLElement | null>(null);
  // Rows and nodes keep an older `open`, which must keep the current view and search.
  const latestPlace = useRef(place);
  latestPlace.current = place;
  const tabs = RUN_TABS.filter((each) => each !== "messages" || hasRoles(run));

  usePageTitle(`${waiting > 0 ? `(${waiting}) ` : ""}${look.word} · ${shown(run.userRequest, 60)}`);

  const open = (session: string) => {
    opener.current = document.activeElement as HTMLElement | null;
    navigate(runAddress(run.id, withSession(latestPlace.current, session)));
  };
  const close = () => leaveTo(runAddress(run.id, withSession(latestPlace.current, null)));
  // The key also closes a panel that is still loading.
  useKeys(opened === null ? {} : { Escape: close });
  const lastOpened = useRef(opened);
  useLayoutEffect(() => {
    const closed = lastOpened.current;
    lastOpened.current = opened;
    if (opened !== null || closed === null || document.activeElement !== document.body) return;
    // Keyboard users continue where they opened the panel. It has replaced the cards and lines of the workers.
    const again = opener.current?.isConnected
      ? opener.current
      : document.querySelector(`[data-worker="${CSS.escape(closed)}"]`);
    (again as HTMLElement | null)?.focus();
  }, [opened]);

  const change = (part: Partial<RunPlace>) => replaceAddress(runAddress(run.id, { ...latestPlace.current, ...part }));

  return (
    <>
      <p className="visually-hidden" role="status">
        {`${look.word}. ${waiting > 0 ? translate("The run waits for you.") : ""}`}
      </p>
      <Panel name={translate("The header")}>
        <RunHeader run={run} look={look} />
      </Panel>
      <Panel name={translate("The state of the run")} isRare>
        <RunNotes run={run} warnings={warnings} />
      </Panel>
      <Panel name={translate("Your unsent drafts")} isRare>
        <LostDrafts run={run.id} />
      </Panel>
      {isRunOver(run.status) && (
        <Panel name={translate("The result")}>
          <ResultCard run={run} />
        </Panel>
      )}
      {Object.values(run.inbox).some(({ kind }) => kind !== "plan") && (
        <Panel name={translate("The inbox")}>
          <InboxCards run={run} />
        </Panel>
      )}
      {run.status === "confirming" && (
        <Panel name={translate("The plan")}>
          <PlanCard
            key={Object.values(run.inbox).find(({ kind }) => kind === "plan")?.id}
            run={run}
            opened={opened}
            onOpen={open}
          />
        </Panel>
      )}
      <RunTabs run={run.id} tabs={tabs} place={place} />
      <div className={`run-columns${tab === "tasks" ? " is-workers-first" : ""}`}>
        <div className="run-left">
          <Panel key={tab} name={translate("This part")}>
            {tab === "tasks" && !hasPlanGraph && (
              <TaskSection run={run} place={place} onChange={change} onOpen={open} />
            )}
            {tab === "plan" && <PlanTab run={run} onOpen={open} />}
            {tab === "changes" && <ChangesPanel run={run} place={place} />}
            {tab === "checks" && <ChecksTab run={run} onOpen={open} />}
            {tab === "cost" && <CostTab run={run} onOpen={open} />}
            {tab === "messages" && <MessagesTab run={run} />}
          </Panel>
          {(tab === "tasks" || tab === "log") && (
            <Panel name={translate("The activity")}>
              {tab === "tasks" && <ActivityCard run={run} recent={recent} />}
              {tab === "log" && <LogTab run={run} recent={recent} place={place} onChange={change} />}
            </Panel>
          )}
        </div>
        <Panel key={opened} name={translate("This panel")}>
          {opened === null ? (
            <WorkerPanel run={run} onOpen={open} />
          ) : (
            <TranscriptPanel key={opened} run={run} name={opened} place={place} onClose={close} />
          )}
        </Panel>
      </div>
    </>
  );
}

const hasRoles = ({ teamMessages, gate, template }: Run): boolean =>
  (teamMessages?.length ?? 0) > 0 || gate !== undefined || Object.keys(template.roles ?? {}).length > 0;

interface PanelProperties {
  name: string;
  /** Keeps no place while it loads, because it is empty most of the time. */
  isRare?: boolean;
  children: ReactNode;
}

/** `ErrorBoundary` and `Suspense` let a part of the page load and fail by itself. */
function Panel({ name, isRare = false, children }: PanelProperties) {
  return (
    <ErrorBoundary part={name}>
      <Suspense fallback={isRare ? null : <p className="loading">{translate("Loading …")}</p>}>{children}</Suspense>
    </ErrorBoundary>
  );
}
