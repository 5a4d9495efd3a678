import { translate } from "../text/language.ts";
import { Suspense, useLayoutEffect, useRef, type ReactNode } from "react";
import { MessageForm } from "./message-form.tsx";
import { sessionsOf } from "./session-of.ts";
import { TaskDetails } from "./task-details.tsx";
import { Transcript } from "./transcript.tsx";
import { Attempts } from "../inspector/attempts.tsx";
import { ClaimAndEvidence } from "../inspector/claim-and-evidence.tsx";
import { FirstPrompt } from "../inspector/first-prompt.tsx";
import { SubAgents } from "../inspector/sub-agents.tsx";
import { subAgentsOf } from "../inspector/sub-agents-of.ts";
import { TaskSummary } from "../inspector/task-summary.tsx";
import type { Run } from "../../../tutti/src/schema/run.ts";
import { Icon } from "../parts/icon.tsx";
import { takesKeys } from "../shell/keys.ts";
import { Link } from "../shell/link.tsx";
import { PANEL_PARTS, runAddress, type PanelPart, type RunPlace } from "../shell/page-route.ts";
import { replaceAddress } from "../shell/route.ts";
import { useCurrentInView } from "../parts/use-current-in-view.ts";
import { AgentWords } from "../text/agent-words.tsx";
import { lazyPart } from "../shell/lazy-part.ts";

const DiffFiles = lazyPart(async () => (await import("../changes/diff-files.tsx")).DiffFiles);

interface Properties {
  run: Run;
  /** A task, or `main`. */
  name: string;
  place: RunPlace;
  onClose: () => void;
}

const PART_NAMES: Record<PanelPart, string> = {
  summary: translate("Summary"),
  transcript: translate("Transcript"),
  prompt: translate("Prompt"),
  changes: translate("Changes"),
  checks: translate("Checks"),
  attempts: translate("Attempts"),
  agents: translate("Sub-sessions"),
};
const OF_TASKS: readonly PanelPart[] = ["summary", "changes", "checks"];

/** The panel is beside the run, so that the run and its buttons stay visible. */
export function TranscriptPanel({ run, name, place, onClose }: Properties) {
  const { title, sessions, alive } = sessionsOf(run, name);
  const task = run.tasks.find(({ id }) => id === name);
  const isKnown = name === "main" || task !== undefined;
  const attempt = Math.min(place.attempt ?? sessions.length, sessions.length);
  const isNewest = attempt === sessions.length;
  const session = sessions[attempt - 1];
  const panel = useRef<HTMLElement>(null);
  const partRow = useRef<HTMLElement>(null);
  const taskId = task?.id ?? null;
  const worker = taskId === null ? undefined : run.workers[taskId];
  const parts = PANEL_PARTS.filter((part) => task !== undefined || !OF_TASKS.includes(part));
  const part = parts.includes(place.part) ? place.part : "transcript";
  const isAlive = alive && isNewest && sessions.length > 0;
  const counts: Partial<Record<PanelPart, number>> = {
    attempts: sessions.length,
    agents: subAgentsOf(run, taskId).length,
  };

  useCurrentInView(partRow, part);
  useLayoutEffect(() => {
    // While the panel was loading, the user may have begun to type elsewhere.
    if (!takesKeys(document.activeElement)) panel.current?.focus({ preventScroll: true });
  }, []);

  return (
    <aside className="transcript card" ref={panel} tabIndex={-1} aria-labelledby="transcript-title">
      <header className="transcript-head">
        <div>
          <h2 id="transcript-title">{isKnown ? <AgentWords text={title} max={120} /> : translate("No such task")}</h2>
          {isKnown && <p className="muted mono">{name}</p>}
        </div>
        {sessions.length > 1 && (
          <label className="attempt">
            {translate("Attempt")}
            <select
              className="field is-fitting"
              value={attempt}
              onChange={({ target }) =>
                replaceAddress(runAddress(run.id, { ...place, attempt: Number(target.value), entry: null }))
              }
            >
              {sessions.map((each, index) => (
                <option key={each} value={index + 1}>
                  {index + 1}
                </option>
              ))}
            </select>
          </label>
        )}
        {session !== undefined && (
          <a
            className="button-icon"
            href={`/api/runs/${run.id}/workers/${encodeURIComponent(session)}/transcript/export`}
            download
            aria-label={translate("Download the transcript")}
            title={translate("Download the transcript")}
          >
            <Icon name="download" />
          </a>
        )}
        <button type="button" className="button-icon" aria-label={translate("Close the transcript")} onClick={onClose}>
          <Icon name="cross" />
        </button>
      </header>
      {task && <TaskDetails run={run} task={task} hasDescription={part !== "summary"} />}
      {isKnown && (
        <nav ref={partRow} className="tabs panel-parts" aria-label={translate("Parts of the task")}>
          {parts.map((each) => (
            <Link
              key={each}
              to={runAddress(run.id, { ...place, part: each, entry: null })}
              className={`tab${each === part ? " is-here" : ""}`}
              current={each === part}
              replace
            >
              {PART_NAMES[each]}
              {(counts[each] ?? 0) > 0 && <span className="muted">{` ${counts[each]}`}</span>}
            </Link>
          ))}
        </nav>
      )}
      {!isKnown && <p className="nothing-yet">{translate("This run has no task with this name.")}</p>}
      {isKnown && part === "transcript" && (
        <Transcript key={session} run={run} session={session} place={place} isAlive={isAlive} />
      )}
      {isKnown && part !== "transcript" && (
        <PartBody name={PART_NAMES[part]}>
          {part === "summary" && task && <TaskSummary task={task} worker={worker} />}
          {part === "prompt" && <FirstPrompt run={run.id} session={session} />}
          {part === "changes" && <DiffFiles run={run} task={taskId} />}
          {part === "checks" &&
            (worker ? (
              <ClaimAndEvidence worker={worker} />
            ) : (
              <p className="nothing-yet">{translate("It has not started yet.")}</p>
            ))}
          {part === "attempts" && <Attempts run={run} place={place} taskId={taskId} />}
          {part === "agents" && <SubAgents run={run} taskId={taskId} />}
        </PartBody>
      )}
      {isKnown && isAlive && <MessageForm run={run.id} taskId={taskId} />}
    </aside>
  );
}

function PartBody({ name, children }: { name: string; children: ReactNode }) {
  return (
    <div className="transcript-body" tabIndex={0} role="region" aria-label={name}>
      <Suspense fallback={<p className="loading">{translate("Loading …")}</p>}>{children}</Suspense>
    </div>
  );
}
