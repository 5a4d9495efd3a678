import { useState } from "react";
import { FileDiff } from "./file-diff.tsx";
import { TakeResult } from "./take-result.tsx";
import { ActionError } from "../shell/action-error.tsx";
import { ErrorBoundary } from "../shell/error-boundary.tsx";
import { changesAddress } from "../shell/page-route.ts";
import { replaceAddress } from "../shell/route.ts";
import { server } from "../shell/server.ts";
import { useRequest } from "../shell/use-request.ts";
import { plural } from "../text/format.ts";
import { shown } from "../text/safe-text.ts";
import type { Run } from "../../../tutti/src/schema/run.ts";
import { isRunOver, isWorkerOver } from "../../../tutti/src/schema/status.ts";
import "../styles/changes.css";

const MOST_FILES = 100;

/** The difference of the run, or of one task, from the commit that it started from. */
export function ChangesPanel({ run, chosen }: { run: Run; chosen: string | null }) {
  // A link may name any task.
  const task = chosen !== null && Object.hasOwn(run.workers, chosen) ? chosen : "";
  const [most, setMost] = useState(MOST_FILES);
  const worker = task === "" ? undefined : run.workers[task];
  // A commit of the run, or the state of the task, changes what there is to see.
  const key = `${run.id} ${task} ${worker ? `${worker.status} ${worker.commit}` : `${run.status} ${run.head}`}`;
  const { value, error, isLoading } = useRequest(run.base === null ? null : key, (signal) =>
    server.diff(run.id, task === "" ? {} : { task }, signal),
  );
  const files = value?.files ?? [];
  const author = worker && !isWorkerOver(worker.status) && !isRunOver(run.status) ? task : null;
  return (
    <section className="changes" aria-labelledby="changes-title">
      <div className="card changes-head">
        <h2 id="changes-title">Changes {value && <span className="muted">{plural(files.length, "file")}</span>}</h2>
        <label>
          Of{" "}
          <select
            aria-label="Of which task"
            value={task}
            onChange={({ target }) => replaceAddress(changesAddress(run.id, target.value))}
          >
            <option value="">the whole run</option>
            {run.tasks
              .filter(({ id }) => run.workers[id])
              .map(({ id, title }) => (
                <option key={id} value={id}>
                  {`${id}: ${shown(title, 60)}`}
                </option>
              ))}
          </select>
        </label>
        {isRunOver(run.status) && task === "" && files.length > 0 && <TakeResult run={run} />}
      </div>
      <ActionError error={error} />
      {run.base === null && <p className="nothing-yet">The run has not started yet.</p>}
      {isLoading && value === null && <p className="loading">Loading changes …</p>}
      {value && files.length === 0 && <p className="nothing-yet">No files changed.</p>}
      {files.slice(0, most).map((file) => (
        <ErrorBoundary key={`${task} ${file.path}`} part="This file">
          <FileDiff run={run.id} file={file} author={author} />
        </ErrorBoundary>
      ))}
      {files.length > most && (
        <button type="button" className="button" onClick={() => setMost(most + MOST_FILES)}>
          Show more files
        </button>
      )}
    </section>
  );
}
