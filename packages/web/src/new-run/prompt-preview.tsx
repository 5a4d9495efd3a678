import { translate } from "../text/language.ts";
import { useState } from "react";
import { ActionError } from "../errors/action-error.tsx";
import { server } from "../shell/server.ts";
import { useRequest } from "../shell/use-request.ts";
import { LongText } from "../text/long-text.tsx";

interface Properties {
  templateId: string;
  project: string | undefined;
  /** Without `variables` the preview has sample values. */
  variables: Record<string, unknown>;
}

export function PromptPreview({ templateId, project, variables }: Properties) {
  const [isOpen, setOpen] = useState(false);
  const key = JSON.stringify([templateId, project, variables]);
  const { value, error } = useRequest(isOpen ? key : null, (signal) =>
    server.call("POST /api/orchestrator/templates/:id/preview", {
      params: { id: templateId },
      ...(project !== undefined && { query: { project } }),
      body: { variables },
      signal,
    }),
  );
  return (
    <details className="folded prompts" onToggle={({ currentTarget }) => setOpen(currentTarget.open)}>
      <summary>{translate("Preview of the prompts")}</summary>
      <ActionError error={error} />
      {Object.entries(value ?? {}).map(([name, { system, user }]) => (
        <div key={name}>
          <h2>{name}</h2>
          <LongText text={[system, user ?? ""].join("\n\n")} max={4000} mono />
        </div>
      ))}
    </details>
  );
}
