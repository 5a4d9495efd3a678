import { useEffect, useRef, useState } from "react";
import { EntryList } from "./entry-list.tsx";
import { MessageForm } from "./message-form.tsx";
import { sessionsOf } from "./session-of.ts";
import { TaskDetails } from "./task-details.tsx";
import { useTranscript } from "./use-transcript.ts";
import type { Run } from "../../../tutti/src/schema/run.ts";
import { ActionError } from "../shell/action-error.tsx";
import { Icon } from "../parts/icon.tsx";
import { isTyping } from "../shell/keys.ts";
import { AgentText } from "../text/agent-text.tsx";
import { useStickToEnd } from "./use-stick-to-end.ts";

interface Properties {
  run: Run;
  /** A task, or `main`. */
  name: string;
  onClose: () => void;
}

/** The panel stands beside the run, so that the run and its buttons stay visible. */
export function TranscriptPanel({ run, name, onClose }: Properties) {
  const { title, sessions, alive } = sessionsOf(run, name);
  const task = run.tasks.find(({ id }) => id === name);
  const isKnown = name === "main" || task !== undefined;
  const [chosen, setChosen] = useState<number | null>(null);
  const attempt = chosen ?? sessions.length;
  const newest = attempt === sessions.length;
  const session = sessions[attempt - 1];
  const { entries, error, readEarlier } = useTranscript(run.id, session, alive && newest);
  const box = useStickToEnd(entries);
  const panel = useRef<HTMLElement>(null);
  const latestOnClose = useRef(onClose);
  latestOnClose.current = onClose;

  useEffect(() => {
    panel.current?.focus({ preventScroll: true });
    const onKey = (event: KeyboardEvent) => {
      if (event.key === "Escape" && !isTyping(event)) latestOnClose.current();
    };
    addEventListener("keydown", onKey);
    return () => removeEventListener("keydown", onKey);
  }, []);

  return (
    <aside className="transcript card" ref={panel} tabIndex={-1} aria-labelledby="transcript-title">
      <header className="transcript-head">
        <div>
          <h2 id="transcript-title">{isKnown ? <AgentText text={title} max={120} /> : "No such task"}</h2>
          {isKnown && <p className="muted mono">{name}</p>}
        </div>
        {sessions.length > 1 && (
          <label className="attempt">
            Attempt
            <select value={attempt} onChange={(event) => setChosen(Number(event.target.value))}>
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
            href={`/api/runs/${run.id}/workers/${encodeURIComponent(session)}/transcript?limit=10000`}
            download={`${session}.json`}
            aria-label="Download the transcript"
            title="Download the transcript"
          >
            <Icon name="download" />
          </a>
        )}
        <button type="button" className="button-icon" aria-label="Close the transcript" onClick={onClose}>
          <Icon name="cross" />
        </button>
      </header>
      {task && <TaskDetails run={run} task={task} />}
      <div className="transcript-body" ref={box} tabIndex={0} role="region" aria-label="Transcript">
        <ActionError error={error} />
        {!isKnown && <p className="nothing-yet">This run has no task with this name.</p>}
        {isKnown && sessions.length === 0 && <p className="nothing-yet">This session has not started yet.</p>}
        {entries?.length === 0 && <p className="nothing-yet">The transcript is still empty.</p>}
        {entries && entries.length > 0 && (
          <EntryList entries={entries} format={run.template.prompts.responseFormat} readEarlier={readEarlier} />
        )}
        {alive && newest && sessions.length > 0 && (
          <p className="still-working">
            <Icon name="spinner" size={14} /> working
          </p>
        )}
      </div>
      {isKnown && alive && newest && <MessageForm run={run.id} taskId={task?.id ?? null} />}
    </aside>
  );
}
