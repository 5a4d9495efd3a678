import { translate } from "../text/language.ts";
import { DiffFiles } from "./diff-files.tsx";
import { TakeResult } from "./take-result.tsx";
import { Link } from "../shell/link.tsx";
import { runAddress, type RunPlace } from "../shell/page-route.ts";
import { replaceAddress } from "../shell/route.ts";
import { AgentText } from "../text/agent-text.tsx";
import { plural } from "../text/format.ts";
import { shown } from "../text/safe-text.ts";
import type { Run } from "../../../tutti/src/schema/run.ts";
import { isRunOver } from "../../../tutti/src/schema/status.ts";

export function ChangesPanel({ run, place }: { run: Run; place: RunPlace }) {
  // A link may name any task, so `place.task` is checked.
  const known = (id: string | null) => (id !== null && Object.hasOwn(run.workers, id) ? id : null);
  const task = known(place.task);
  const beside = task === null ? null : known(place.beside);
  if (task !== null && beside !== null) return <BothSides run={run} place={place} sides={[task, beside]} />;
  return (
    <section className="changes" aria-labelledby="changes-title">
      <DiffFiles run={run} task={task} find={place.find}>
        {(files) => (
          <div className="card changes-head">
            <h2 id="changes-title">
              {translate("Changes")} {files && <span className="muted">{plural(files.length, "file")}</span>}
            </h2>
            <label>
              {translate("Of")}{" "}
              <select
                className="field is-fitting"
                aria-label={translate("Of which task")}
                value={task ?? ""}
                onChange={({ target }) =>
                  replaceAddress(
                    runAddress(run.id, { ...place, find: "", task: target.value === "" ? null : target.value }),
                  )
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

interface SidesProperties {
  run: Run;
  place: RunPlace;
  sides: [string, string];
}

/** Beside each other in a wide window, below each other in a narrow one. */
function BothSides({ run, place, sides }: SidesProperties) {
  return (
    <section className="changes" aria-labelledby="changes-title">
      <div className="card changes-head">
        <h2 id="changes-title">
          {translate("Changes of {first} and {second}", { first: sides[0], second: sides[1] })}
        </h2>
        {place.find !== "" && (
          <code>
            <AgentText text={place.find} max={200} />
          </code>
        )}
        <Link to={runAddress(run.id, { ...place, beside: null, task: null, find: "" })} className="push">
          {translate("Changes of the whole run")}
        </Link>
      </div>
      <div className="changes-sides">
        {sides.map((side, index) => (
          <section key={side} className="changes" aria-label={translate("Changes of {task}", { task: side })}>
            <h3 className="mono">{side}</h3>
            <DiffFiles run={run} task={side} find={place.find} isSide hasRework={index === 0} />
          </section>
        ))}
      </div>
    </section>
  );
}
