import { translate } from "../text/language.ts";
import { useState } from "react";
import { commentTarget } from "./comment-target.ts";
import { FileDiff } from "./file-diff.tsx";
import { ReworkCard } from "./rework-card.tsx";
import { keepNotes, useNotes, type LineNote } from "./rework-notes.ts";
import { ActionError } from "../errors/action-error.tsx";
import { ErrorBoundary } from "../errors/error-boundary.tsx";
import { server } from "../shell/server.ts";
import { useNow } from "../shell/use-now.ts";
import { useRequest } from "../shell/use-request.ts";
import { RequestError } from "../../../tutti/src/client/request-error.ts";
import type { FileChange } from "../../../tutti/src/schema/api/result-values.ts";
import type { Run } from "../../../tutti/src/schema/run.ts";
import { isRunOver, isWorkerOver } from "../../../tutti/src/schema/status.ts";
import "../styles/changes.css";

const MOST_FILES = 100;
const SAVED_MS = 30_000;

interface Properties {
  run: Run;
  task: string | null;
  /** Only files with this text in their path. */
  find?: string;
  /** Whether the page shows the changes of another task, too. */
  isSide?: boolean;
  /** Whether the comments on an ended run are listed here. */
  hasRework?: boolean;
  children?: (files: readonly FileChange[] | null) => React.ReactNode;
}

export function DiffFiles({ run, task, find = "", isSide = false, hasRework = true, children }: Properties) {
  const [most, setMost] = useState(MOST_FILES);
  const worker = task === null ? undefined : run.workers[task];
  // `server.diff` changes with a commit of the run, or with the state of the task.
  const key = `${run.id} ${task} ${worker ? `${worker.status} ${worker.commit}` : `${run.status} ${run.head}`}`;
  // The work of a worker in its turn is saved from time to time, without a change of its state.
  const isAtWork = worker !== undefined && !isWorkerOver(worker.status);
  const saved = useNow(isAtWork, SAVED_MS);
  const { value, error, isLoading } = useRequest(
    run.base === null ? null : `${key} ${saved}`,
    (signal) => server.diff(run.id, task === null ? {} : { task }, signal),
    `${run.id} ${task}`,
  );
  const files = (value?.files ?? []).filter(({ path }) => path.includes(find));
  const notes = useNotes(run.id);
  const changeNotes = (next: LineNote[]) => keepNotes(run.id, next);
  const target = commentTarget(run, task, (note) => changeNotes([...notes, note]));
  return (
    <>
      {children?.(value && files)}
      {isAtWork && error instanceof RequestError && error.code === "wrong_state" ? (
        <p className="nothing-yet">{translate("Its work has not been saved yet.")}</p>
      ) : (
        <ActionError error={error} />
      )}
      {hasRework && isRunOver(run.status) && <ReworkCard run={run.id} notes={notes} onChange={changeNotes} />}
      {run.base === null && <p className="nothing-yet">{translate("The run has not started yet.")}</p>}
      {isLoading && value === null && <p className="loading">{translate("Loading changes …")}</p>}
      {value && files.length === 0 && <p className="nothing-yet">{translate("No files changed.")}</p>}
      {files.slice(0, most).map((file) => (
        <ErrorBoundary key={`${task} ${file.path}`} part={translate("This file")}>
          <FileDiff file={file} target={target} side={isSide ? (task ?? undefined) : undefined} />
        </ErrorBoundary>
      ))}
      {files.length > most && (
        <button type="button" className="button" onClick={() => setMost(most + MOST_FILES)}>
          {translate("Show more files")}
        </button>
      )}
    </>
  );
}
