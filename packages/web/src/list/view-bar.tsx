import { translate } from "../text/language.ts";
import { useState, type FormEvent } from "react";
import { forgetView, saveView, useSavedViews } from "./saved-views.ts";
import { Icon } from "../parts/icon.tsx";
import { Link } from "../shell/link.tsx";
import { runsAddress, type RunFilter } from "../shell/page-route.ts";

export function ViewBar({ filter }: { filter: RunFilter }) {
  const views = useSavedViews();
  const [name, setName] = useState("");
  const here = runsAddress(filter);
  const known = views.find((view) => runsAddress(view.filter) === here);
  const isFiltered = filter.state !== "" || filter.text !== "";
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (name.trim() === "") return;
    saveView({ name: name.trim(), filter });
    setName("");
  };
  if (views.length === 0 && !isFiltered) return null;
  return (
    <div className="view-bar" role="group" aria-label={translate("Saved views")}>
      {views.map((view) => (
        <span key={view.name} className="saved-view">
          <Link
            to={runsAddress(view.filter)}
            className={`button is-small${view === known ? " is-chosen" : ""}`}
            current={view === known}
          >
            {view.name}
          </Link>
          <button
            type="button"
            className="button-icon"
            aria-label={translate("Forget the view {name}", { name: view.name })}
            onClick={() => forgetView(view.name)}
          >
            <Icon name="cross" size={12} />
          </button>
        </span>
      ))}
      {isFiltered && known === undefined && (
        <form onSubmit={submit}>
          <input
            className="field is-short"
            aria-label={translate("Name of the view")}
            placeholder={translate("Name")}
            value={name}
            onChange={({ target }) => setName(target.value)}
          />
          <button type="submit" className="button is-small" disabled={name.trim() === ""}>
            {translate("Save this view")}
          </button>
        </form>
      )}
    </div>
  );
}
