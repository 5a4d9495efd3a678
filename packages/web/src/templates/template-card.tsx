import { sayBuiltIn, translate } from "../text/language.ts";
import { useEffect, useRef, useState } from "react";
import { Rehearsal } from "./rehearsal.tsx";
import { PromptPreview } from "../new-run/prompt-preview.tsx";
import { FactList } from "../parts/fact-list.tsx";
import { Notice } from "../parts/notice.tsx";
import { ActionError } from "../errors/action-error.tsx";
import { AskedButton } from "../shell/asked-button.tsx";
import { Link } from "../shell/link.tsx";
import { OrderButton } from "../shell/order-button.tsx";
import { newRunAddress, templatesAddress } from "../shell/page-route.ts";
import { navigateAfter } from "../shell/route.ts";
import { shellQuote } from "../text/shell-quote.ts";
import { server } from "../shell/server.ts";
import { useRequest } from "../shell/use-request.ts";
import { AgentText } from "../text/agent-text.tsx";
import { shown } from "../text/safe-text.ts";
import type { ListedTemplate } from "../../../tutti/src/schema/api/template-routes.ts";

interface ResolvedTemplate {
  template: Record<string, unknown>;
  provenance: Record<string, string>;
  chain: string[];
  warnings: string[];
}

interface Properties {
  row: ListedTemplate;
  /** Whether the user chose it. */
  isChosen: boolean;
  onChange: () => void;
}

export function TemplateCard({ row, isChosen, onChange }: Properties) {
  const box = useRef<HTMLElement>(null);
  // In a narrow window the card is below the list.
  useEffect(() => {
    if (isChosen && box.current!.getBoundingClientRect().top > innerHeight / 2) box.current!.scrollIntoView();
  }, []);
  const { id, name, description, valid, errors, place, version, author, tags } = row;
  const [copyName, setCopyName] = useState("");
  const { value, error } = useRequest(valid ? id : null, (signal) =>
    server.call("GET /api/orchestrator/templates/:id", { params: { id }, query: { provenance: "1" }, signal }),
  );
  const resolved = value as ResolvedTemplate | null;
  const duplicate = async () => {
    const goTo = navigateAfter();
    const made = await server.call("POST /api/orchestrator/templates/:id/duplicate", {
      params: { id },
      body: { newName: copyName },
    });
    onChange();
    goTo(templatesAddress(made.id));
  };
  const remove = async () => {
    const goTo = navigateAfter();
    await server.call("DELETE /api/orchestrator/templates/:id", { params: { id } });
    onChange();
    goTo(templatesAddress(null));
  };
  return (
    <section ref={box} className="card run-tab" aria-labelledby="template-title">
      <div className="tab-row-head">
        <h2 id="template-title">
          <AgentText text={sayBuiltIn(name)} max={120} />
        </h2>
        <Link to={newRunAddress({ template: id })} className="button button-primary push">
          {translate("New run with it")}
        </Link>
      </div>
      <p className="muted">
        <AgentText text={sayBuiltIn(description)} max={600} />
      </p>
      {errors.map((problem) => (
        <Notice key={problem} tone="bad">
          <AgentText text={problem} max={400} />
        </Notice>
      ))}
      {resolved?.warnings.map((warning) => (
        <Notice key={warning} tone="warning">
          <AgentText text={warning} max={400} />
        </Notice>
      ))}
      <FactList
        rows={[
          [translate("Inherits from"), resolved?.chain.filter((each) => each !== id).join(" → ")],
          [translate("Version"), version],
          [translate("Author"), author],
          [translate("Tags"), tags.join(", ")],
        ]}
      />
      <div className="answer-row">
        <input
          className="field template-copy"
          aria-label={translate("Name of the copy")}
          placeholder={translate("Name of the copy")}
          value={copyName}
          onChange={({ target }) => setCopyName(target.value)}
        />
        <OrderButton
          word={translate("Duplicate")}
          command={`tutti templates duplicate ${id} ${shellQuote(copyName)}`}
          needs="admin"
          disabled={copyName.trim() === "" || !valid}
          reason={copyName.trim() === "" ? translate("Give the copy a name.") : undefined}
          order={duplicate}
        />
        <a className="button" href={`/api/templates/${id}/export`} download={`${id}.json`}>
          {translate("Export")}
        </a>
        {place !== "system" && (
          <AskedButton
            word={translate("Delete")}
            command={`tutti templates delete ${id}`}
            question={translate("Delete the template {id}?", { id })}
            yes={translate("Yes, delete")}
            needs="admin"
            order={remove}
          />
        )}
      </div>
      <ActionError error={error} />
      {valid && <Rehearsal id={id} />}
      {valid && <PromptPreview templateId={id} project={undefined} variables={{}} />}
      {resolved && <Values resolved={resolved} />}
    </section>
  );
}

/** Prompts are left out, since `PromptPreview` shows them. */
function Values({ resolved: { template, provenance } }: { resolved: ResolvedTemplate }) {
  const rows = Object.entries(provenance).filter(([path]) => !path.startsWith("/prompts/"));
  return (
    <details className="folded">
      <summary>{translate("{rows} values with their origin", { rows: rows.length })}</summary>
      <div className="task-table-rows" role="region" aria-label={translate("Values of the template")} tabIndex={0}>
        <table className="values">
          <thead>
            <tr>
              <th scope="col">{translate("Value of")}</th>
              <th scope="col">{translate("Value")}</th>
              <th scope="col">{translate("Defined in")}</th>
            </tr>
          </thead>
          <tbody>
            {rows.map(([path, origin]) => (
              <tr key={path}>
                <th scope="row">
                  <code>{path}</code>
                </th>
                <td>{shown(JSON.stringify(valueAt(template, path)) ?? "", 200)}</td>
                <td>{origin}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </details>
  );
}

/** `path` is a JSON pointer. */
const valueAt = (value: unknown, path: string): unknown =>
  path
    .slice(1)
    .split("/")
    .map((name) => name.replaceAll("~1", "/").replaceAll("~0", "~"))
    .reduce((part, name) => (typeof part === "object" && part !== null ? part[name as never] : undefined), value);
