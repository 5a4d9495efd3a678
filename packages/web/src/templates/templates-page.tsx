import { sayBuiltIn, translate } from "../text/language.ts";
import { useState } from "react";
import { TemplateCard } from "./template-card.tsx";
import { ActionError } from "../errors/action-error.tsx";
import { Link } from "../shell/link.tsx";
import { templatesAddress } from "../shell/page-route.ts";
import { server } from "../shell/server.ts";
import { useRequest } from "../shell/use-request.ts";
import { AgentText } from "../text/agent-text.tsx";
import { usePageTitle } from "../text/use-page-title.ts";
import type { ListedTemplate } from "../../../tutti/src/schema/api/template-routes.ts";
import "../styles/run.css";
import "../styles/templates.css";

const PLACES: Record<ListedTemplate["place"], string> = {
  project: translate("Of this project"),
  user: translate("Your own"),
  system: translate("Built in"),
};

export function TemplatesPage({ id }: { id: string | null }) {
  /** Counts the changes that this page made, so that `useRequest` reads the list again. */
  const [changes, setChanges] = useState(0);
  const { value, error, isLoading } = useRequest(`templates ${changes}`, (signal) =>
    server.call("GET /api/orchestrator/templates", { signal }),
  );
  usePageTitle(translate("Templates"));
  const rows = ((value ?? []) as ListedTemplate[]).filter(({ isInternal }) => !isInternal);
  const chosen = rows.find((row) => row.id === id) ?? rows.find((row) => row.id === "documentation") ?? rows[0];
  return (
    <div className="page page-templates">
      <div className="page-title">
        <h1>{translate("Templates")}</h1>
      </div>
      <ActionError error={error} />
      {isLoading && value === null && <p className="loading">{translate("Loading …")}</p>}
      <div className="templates">
        <nav aria-label={translate("Templates")} className="template-list">
          {Object.entries(PLACES).map(([place, name]) => {
            const here = rows.filter((row) => row.place === place);
            return (
              here.length > 0 && (
                <section key={place} aria-label={name}>
                  <h2 className="group-title">{name}</h2>
                  <ul className="card">
                    {here.map((row) => (
                      <li key={row.id}>
                        <Link
                          to={templatesAddress(row.id)}
                          className={`template-row${row === chosen ? " is-here" : ""}`}
                          current={row === chosen}
                        >
                          <strong>
                            <AgentText text={sayBuiltIn(row.name)} max={80} />
                          </strong>
                          {!row.valid && <span className="chip tone-bad">{translate("invalid")}</span>}
                          <span className="mono muted">{row.id}</span>
                        </Link>
                      </li>
                    ))}
                  </ul>
                </section>
              )
            );
          })}
        </nav>
        {chosen && (
          <TemplateCard
            key={chosen.id}
            row={chosen}
            isChosen={chosen.id === id}
            onChange={() => setChanges(changes + 1)}
          />
        )}
      </div>
    </div>
  );
}
