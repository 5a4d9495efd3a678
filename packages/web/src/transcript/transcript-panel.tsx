import { useEffect, useRef, useState } from "react";
import { EntryList } from "./entry-list.tsx";
import { sessionsOf } from "./session-of.ts";
import { TaskDetails } from "./task-details.tsx";
import { useTranscript } from "./use-transcript.ts";
import type { Run } from "../../../tutti/src/schema/run.ts";
import { ActionError } from "../shell/action-error.tsx";
import { Icon } from "../shell/icon.tsx";
import { AgentText } from "../text/agent-text.tsx";
import { useStickToEnd } from "./use-stick-to-end.ts";

interface Properties {
  run: Run;
  /** A task, or `main`. */
  name: string;
  onClose: () => void;
}

/** The panel stands beside the run, so that the run stays visible. */
export function TranscriptPanel({ run, name, onClose }: Properties) {
  const { title, sessions, alive } = sessionsOf(run, name);
  const task = run.tasks.find(({ id }) => id === name);
  const [chosen, setChosen] = useState<number | null>(null);
  const attempt = chosen ?? sessions.length;
  const newest = attempt === sessions.length;
  const { entries, error } = useTranscript(run.id, sessions[attempt - 1], alive && newest);
  const box = useStickToEnd(entries);
  const panel = useRef<HTMLElement>(null);
  const latestOnClose = useRef(onClose);
  latestOnClose.current = onClose;

  useEffect(() => {
    panel.current?.focus();
    const onKey = (event: KeyboardEvent) => {
      if (event.key === "Escape") latestOnClose.current();
    };
    addEventListener("keydown", onKey);
    return () => removeEventListener("keydown", onKey);
  }, []);

  return (
    <aside className="transcript" ref={panel} tabIndex={-1} aria-labelledby="transcript-title">
      <header className="transcript-head">
        <div>
          <h2 id="transcript-title">
            <AgentText text={title} max={120} />
          </h2>
          <p className="muted mono">{name}</p>
        </div>
        {sessions.length > 1 && (
          <label className="attempt">
            Attempt
            <select value={attempt} onChange={(event) => setChosen(Number(event.target.value))}>
              {sessions.map((session, index) => (
                <option key={session} value={index + 1}>
                  {index + 1}
                </option>
              ))}
            </select>
          </label>
        )}
        <button type="button" className="button-icon" aria-label="Close the transcript" onClick={onClose}>
          <Icon name="cross" />
        </button>
      </header>
      <div className="transcript-body" ref={box} tabIndex={0} role="region" aria-label="Transcript">
        {task && <TaskDetails run={run} task={task} />}
        <ActionError error={error} />
        {sessions.length === 0 && <p className="nothing-yet">This session has not started yet.</p>}
        {entries?.length === 0 && <p className="nothing-yet">The transcript is still empty.</p>}
        {entries && <EntryList entries={entries} format={run.template.prompts.responseFormat} />}
        {alive && newest && sessions.length > 0 && (
          <p className="still-working">
            <Icon name="spinner" size={14} /> working
          </p>
        )}
      </div>
    </aside>
  );
}
