import { useEffect, useId, useRef, useState, type FormEvent } from "react";
import { agentChoices } from "./agent-choices.ts";
import { useLive, useRefusal } from "../live/use-live.ts";
import { ActionError } from "../shell/action-error.tsx";
import { Notice } from "../parts/notice.tsx";
import { runAddress } from "../shell/page-route.ts";
import { navigate } from "../shell/route.ts";
import { server } from "../shell/server.ts";
import { useAction } from "../shell/use-action.ts";
import { useRequest } from "../shell/use-request.ts";
import { AgentText } from "../text/agent-text.tsx";
import { LongText } from "../text/long-text.tsx";
import { shown } from "../text/safe-text.ts";
import type { TemplateSummary } from "../../../tutti/src/schema/api/template-routes.ts";
import type { Template } from "../../../tutti/src/schema/template.ts";
import "../styles/run.css";
import "../styles/new-run.css";

type TemplateRow = typeof TemplateSummary extends { _output: infer Row } ? Row : never;

interface Properties {
  /** A run to take the settings from. */
  from: string | null;
  /** An ended run whose result the new one continues. */
  after: string | null;
}

interface Fields {
  message: string;
  cwd: string;
  templateId: string;
  agent: string;
  maxWorkers: string;
  usd: string;
}

const EMPTY: Fields = { message: "", cwd: "", templateId: "documentation", agent: "", maxWorkers: "", usd: "" };

/** Creates a run: request, folder, template with its variables, agent, workers and budget. */
export function NewRunPage({ from, after }: Properties) {
  const [given, setGiven] = useState<Partial<Fields>>({});
  const [variables, setVariables] = useState<Record<string, string>>({});
  const refusal = useRefusal();
  const key = useRef(crypto.randomUUID());
  const runs = useLive((state) => state.runs);
  const source = useRequest(from, (signal) => server.get(from!, signal)).value;
  const fields: Fields = {
    ...EMPTY,
    cwd: runs?.at(-1)?.cwd ?? "",
    ...(source && {
      message: after === null ? source.userRequest : "",
      cwd: source.cwd,
      templateId: source.templateId,
      agent: source.agent,
    }),
    ...given,
  };
  const project = isAbsolute(fields.cwd) ? fields.cwd : undefined;
  const templates = useRequest(`templates ${project ?? ""}`, (signal) =>
    server.call("GET /api/orchestrator/templates", { query: project === undefined ? {} : { project }, signal }),
  );
  const template = useRequest(`${fields.templateId} ${project ?? ""}`, (signal) =>
    server.call("GET /api/orchestrator/templates/:id", {
      params: { id: fields.templateId },
      ...(project !== undefined && { query: { project } }),
      signal,
    }),
  ).value as Template | null;
  const doctor = useRequest(refusal === null ? "doctor" : null, (signal) => server.call("GET /api/doctor", { signal }));
  const settings = useRequest(refusal === null ? "settings" : null, (signal) =>
    server.call("GET /api/settings", { signal }),
  );
  useEffect(() => {
    document.title = "New run · Tutti";
  }, []);

  const set = (part: Partial<Fields>) => setGiven((now) => ({ ...now, ...part }));
  const custom = Object.entries(template?.variables?.custom ?? {});
  const missing = [
    fields.message.trim() === "" && "a request",
    !isAbsolute(fields.cwd) && "the path of a folder",
    ...custom.map(
      ([name, { required, default: byDefault }]) =>
        required && byDefault === undefined && !(variables[name] ?? "").trim() && name,
    ),
  ].filter((name): name is string => typeof name === "string");
  const create = useAction(async () => {
    const filled = Object.entries(variables).filter(([, value]) => value !== "");
    const { orchestratorId } = await server.create(
      {
        templateId: fields.templateId,
        cwd: fields.cwd.trim(),
        message: fields.message,
        autoStart: true,
        customVariables: Object.fromEntries(filled.map(([name, value]) => [name, typed(custom, name, value)])),
        ...(fields.agent !== "" && { agent: fields.agent }),
        ...(fields.maxWorkers !== "" && { config: { maxWorkers: Number(fields.maxWorkers) } }),
        ...(fields.usd !== "" && { budget: { usd: Number(fields.usd) } }),
        ...(after !== null && { after }),
      },
      key.current,
    );
    navigate(runAddress(orchestratorId));
  });
  const change = (part: Partial<Fields>) => {
    // Another request is another run.
    key.current = crypto.randomUUID();
    set(part);
  };
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (missing.length === 0) create.run();
  };
  const rows = (templates.value ?? []) as TemplateRow[];
  const choices = agentChoices(doctor.value?.checks ?? [], settings.value?.agents ?? []);
  const chosen = choices.find(({ name }) => name === fields.agent);

  return (
    <div className="page page-form">
      <div className="page-title">
        <h1>{after === null ? "New run" : "Follow-up run"}</h1>
      </div>
      {refusal !== null && <Notice tone="warning">{refusal}</Notice>}
      {after !== null && (
        <Notice tone="neutral">{`It starts from the result of ${after}, and its prompts describe that run.`}</Notice>
      )}
      <form className="card new-run" onSubmit={submit}>
        <Field name="Request" note="What the agents should do. You confirm the plan before any worker starts.">
          {(id) => (
            <textarea
              id={id}
              className="field"
              rows={4}
              autoFocus
              value={fields.message}
              onChange={({ target }) => change({ message: target.value })}
            />
          )}
        </Field>
        <Field name="Folder" note="The path of a git repository on the server's machine.">
          {(id) => (
            <>
              <input
                id={id}
                className="field mono"
                list={`${id}-known`}
                spellCheck={false}
                value={fields.cwd}
                onChange={({ target }) => change({ cwd: target.value })}
              />
              <datalist id={`${id}-known`}>
                {[...new Set((runs ?? []).map(({ cwd }) => cwd))].map((cwd) => (
                  <option key={cwd} value={cwd} />
                ))}
              </datalist>
            </>
          )}
        </Field>
        <Field name="Template" note={shown(template?.description ?? "", 300)}>
          {(id) => (
            <select
              id={id}
              className="field"
              value={fields.templateId}
              onChange={({ target }) => {
                setVariables({});
                change({ templateId: target.value });
              }}
            >
              {rows
                .filter(({ isInternal, valid }) => valid && !isInternal)
                .map(({ id: each, name }) => (
                  <option key={each} value={each}>
                    {shown(name, 80)}
                  </option>
                ))}
              {!rows.some(({ id: each }) => each === fields.templateId) && <option>{fields.templateId}</option>}
            </select>
          )}
        </Field>
        {custom.map(([name, variable]) => (
          <Field key={name} name={name} note={shown(variable.description ?? "", 300)}>
            {(id) => (
              <input
                id={id}
                className="field"
                type={variable.type === "number" ? "number" : "text"}
                required={variable.required && variable.default === undefined}
                placeholder={variable.default === undefined ? "" : shown(JSON.stringify(variable.default), 80)}
                value={variables[name] ?? ""}
                onChange={({ target }) => setVariables({ ...variables, [name]: target.value })}
              />
            )}
          </Field>
        ))}
        <Field name="Agent" note={chosen?.note ?? ""}>
          {(id) => (
            <>
              <select
                id={id}
                className="field"
                value={fields.agent}
                onChange={({ target }) => change({ agent: target.value })}
              >
                <option value="">Agent of the template or the settings</option>
                {choices.map(({ name, word }) => (
                  <option key={name} value={name}>
                    {`${name} (${word})`}
                  </option>
                ))}
                {fields.agent !== "" && !chosen && <option value={fields.agent}>{shown(fields.agent, 80)}</option>}
              </select>
              {doctor.isLoading && <span className="muted"> checking …</span>}
            </>
          )}
        </Field>
        <div className="new-run-pair">
          <Field name="Most workers" note="">
            {(id) => (
              <input
                id={id}
                className="field is-short"
                type="number"
                min="1"
                max="100"
                placeholder={String(template?.config?.maxWorkers ?? "")}
                value={fields.maxWorkers}
                onChange={({ target }) => change({ maxWorkers: target.value })}
              />
            )}
          </Field>
          <Field name="Budget in US dollars" note="">
            {(id) => (
              <input
                id={id}
                className="field is-short"
                type="number"
                min="0"
                step="any"
                placeholder="no limit"
                value={fields.usd}
                onChange={({ target }) => change({ usd: target.value })}
              />
            )}
          </Field>
        </div>
        <div className="answer-row">
          <Prompts templateId={fields.templateId} project={project} />
          <button
            type="submit"
            className="button button-primary"
            title={refusal ?? (missing.length > 0 ? `Give ${missing.join(", ")}.` : undefined)}
            disabled={create.busy || refusal !== null || missing.length > 0}
          >
            Start run
          </button>
        </div>
        <ActionError error={create.error} />
      </form>
    </div>
  );
}

const isAbsolute = (path: string): boolean => /^(\/|[A-Za-z]:[\\/])/.test(path.trim());

type CustomVariables = [name: string, variable: { type?: string }][];

/** Numbers and lists are sent as such; a list is written with commas. */
function typed(custom: CustomVariables, name: string, value: string): unknown {
  const type = custom.find(([each]) => each === name)?.[1].type;
  if (type === "number") return Number(value);
  if (type === "boolean") return value === "true" || value === "yes";
  if (type === "array") return value.split(",").map((each) => each.trim());
  return value;
}

interface FieldProperties {
  name: string;
  note: string;
  children: (id: string) => React.ReactNode;
}

function Field({ name, note, children }: FieldProperties) {
  const id = useId();
  return (
    <div className="form-field">
      <label htmlFor={id}>{name}</label>
      {children(id)}
      {note !== "" && (
        <p className="muted">
          <AgentText text={note} max={400} />
        </p>
      )}
    </div>
  );
}

/** The prompts of the template with sample values. */
function Prompts({ templateId, project }: { templateId: string; project: string | undefined }) {
  const [isOpen, setOpen] = useState(false);
  const { value, error } = useRequest(isOpen ? `${templateId} ${project ?? ""}` : null, (signal) =>
    server.call("POST /api/orchestrator/templates/:id/preview", {
      params: { id: templateId },
      ...(project !== undefined && { query: { project } }),
      signal,
    }),
  );
  return (
    <details className="folded prompts" onToggle={({ currentTarget }) => setOpen(currentTarget.open)}>
      <summary>Preview of the prompts</summary>
      <ActionError error={error} />
      {Object.entries(value ?? {}).map(([name, { system, user }]) => (
        <div key={name}>
          <h3>{name}</h3>
          <LongText text={[system, user ?? ""].join("\n\n")} max={2000} mono />
        </div>
      ))}
    </details>
  );
}
