import { useEffect, useRef } from "react";
import type { ActivityLine } from "./activity.ts";
import { ActivityCard } from "./activity-card.tsx";
import { InboxCards } from "./inbox/inbox-cards.tsx";
import { PlanCard } from "./plan/plan-card.tsx";
import { ResultCard } from "./result/result-card.tsx";
import { RunHeader } from "./run-header.tsx";
import { runLook } from "./run-look.ts";
import { RunNotes } from "./run-notes.tsx";
import { TaskSection } from "./task-section.tsx";
import { holdsUp } from "./inbox/waiting.ts";
import type { Run } from "../../../tutti/src/schema/run.ts";
import { isRunOver } from "../../../tutti/src/schema/status.ts";
import { navigate, runAddress } from "../shell/route.ts";
import { shown } from "../text/safe-text.ts";
import { TranscriptPanel } from "../transcript/transcript-panel.tsx";
import { WorkerPanel } from "../workers/worker-panel.tsx";

interface Properties {
  run: Run;
  activity: readonly ActivityLine[];
  warnings: string[];
  opened: string | null;
}

export function LiveRun({ run, activity, warnings, opened }: Properties) {
  const questions = Object.values(run.inbox).filter(holdsUp).length;
  const look = runLook(run.status, questions, run.outcome);
  const waiting = questions + (run.status === "confirming" ? 1 : 0);
  const opener = useRef<HTMLElement | null>(null);

  useEffect(() => {
    document.title = `${waiting > 0 ? `(${waiting}) ` : ""}${look.word} · ${shown(run.userRequest, 60)} · Tutti`;
  }, [look.word, waiting, run.userRequest]);

  const open = (session: string) => {
    opener.current = document.activeElement as HTMLElement | null;
    navigate(runAddress(run.id, session));
  };
  const close = () => {
    navigate(runAddress(run.id));
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
      {isRunOver(run.status) && <ResultCard run={run} />}
      <InboxCards run={run} />
      {run.status === "confirming" && <PlanCard run={run} />}
      <div className="run-columns">
        <div className="run-left">
          <TaskSection run={run} opened={opened} onOpen={open} />
          <ActivityCard activity={activity} />
        </div>
        <WorkerPanel run={run} opened={opened} onOpen={open} />
      </div>
      {opened !== null && <TranscriptPanel key={opened} run={run} name={opened} onClose={close} />}
    </>
  );
}
