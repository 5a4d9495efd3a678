import { translate } from "../text/language.ts";
import type { LineNote } from "./rework-notes.ts";
import { Link } from "../shell/link.tsx";
import { newRunAddress } from "../shell/page-route.ts";
import { AgentText } from "../text/agent-text.tsx";
import { plural } from "../text/format.ts";

interface Properties {
  run: string;
  notes: readonly LineNote[];
  onChange: (notes: LineNote[]) => void;
}

/** The link leads to a new run with the `notes` as its request. */
export function ReworkCard({ run, notes, onChange }: Properties) {
  if (notes.length === 0) return null;
  return (
    <section className="card run-tab" aria-label={translate("Rework request")}>
      <div className="tab-row-head">
        <h2>{translate("Rework request with {comments}", { comments: plural(notes.length, "comment") })}</h2>
        <Link to={newRunAddress({ from: run, after: run })} className="button button-primary push">
          {translate("Request rework")}
        </Link>
      </div>
      <ul className="tab-rows">
        {notes.map((note, index) => (
          <li key={`${index} ${note.place}`}>
            <div className="tab-row-head">
              <code>
                <AgentText text={note.place} max={200} />
              </code>
              <span>{note.text}</span>
              <button
                type="button"
                className="button is-small push"
                aria-label={translate("Remove the comment on {place}", { place: note.place })}
                onClick={() => onChange(notes.filter((each) => each !== note))}
              >
                {translate("Remove")}
              </button>
            </div>
          </li>
        ))}
      </ul>
    </section>
  );
}
