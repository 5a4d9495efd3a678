import { translate } from "../text/language.ts";
import { DiffFiles } from "./diff-files.tsx";
import { TakeResult } from "./take-result.tsx";
import { runAddress, type RunPlace } from "../shell/page-route.ts";
import { replaceAddress } from "../shell/route.ts";
import { plural } from "../text/format.ts";
import { shown } from "../text/safe-text.ts";
import type { Run } from "../../../tutti/src/schema/run.ts";
import { isRunOver } from "../../../tutti/src/schema/status.ts";

export function ChangesPanel({ run, place }: { run: Run; place: RunPlace }) {
  // A link may name any task, so `place.task` is checked.
  const task = place.task !== null && Object.hasOwn(run.workers, place.task) ? place.task : null;
  return (
    <section className="changes" aria-labelledby="changes-title">
      <DiffFiles run={run} task={task}>
        {(files) => (
          <div className="card changes-head">
            <h2 id="changes-title">
              {translate("Changes")} {files && <span className="muted">{plural(files.length, "file")}</span>}
            </h2>
            <label>
              {translate("Of")}{" "}
              <select
                aria-label={translate("Of which task")}
                value={task ?? ""}
                onChange={({ target }) =>
                  replaceAddress(runAddress(run.id, { ...place, task: target.value === "" ? null : target.value }))
                }
              >
                <option value="">{translate("the whole run")}</option>
                {run.tasks
                  .filter(({ id }) => run.workers[id])
                  .map(({ id, title }) => (
                    <option key={id} value={id}>
                      {`${id}: ${shown(title, 60)}`}
                    </option>
                  ))}
              </select>
            </label>
            {isRunOver(run.status) && task === null && files !== null && files.length > 0 && <TakeResult run={run} />}
          </div>
        )}
      </DiffFiles>
    </section>
  );
}
