import { sayBuiltIn, translate } from "../text/language.ts";
import { useLayoutEffect, useRef, useState, type FormEvent } from "react";
import { agentChoices, roleWord, withState } from "./agent-choices.ts";
import { AgentSelect } from "./agent-select.tsx";
import { forgetForm, keepForm, readForm } from "./kept-form.ts";
import { PromptPreview } from "./prompt-preview.tsx";
import { readNotes, reworkRequest } from "../changes/rework-notes.ts";
import { VariableField } from "./variable-field.tsx";
import { useLive, useRefusal } from "../live/use-live.ts";
import { ActionError } from "../errors/action-error.tsx";
import { CopyLine } from "../parts/copy-line.tsx";
import { FactList } from "../parts/fact-list.tsx";
import { focusOnMount } from "../parts/focus-on-mount.ts";
import { FormField } from "../parts/form-field.tsx";
import { Notice } from "../parts/notice.tsx";
import { NumberField } from "../parts/number-field.tsx";
import { runAddress } from "../shell/page-route.ts";
import { navigateAfter } from "../shell/route.ts";
import { server } from "../shell/server.ts";
import { useAction } from "../shell/use-action.ts";
import { useRequest } from "../shell/use-request.ts";
import { duration, money, plural } from "../text/format.ts";
import { shown } from "../text/safe-text.ts";
import { shellQuote } from "../text/shell-quote.ts";
import { usePageTitle } from "../text/use-page-title.ts";
import { agentsByRole } from "../../../tutti/src/run/plan/agents-by-role.ts";
import type { ListedRun } from "../../../tutti/src/client/run-summary.ts";
import type { ListedTemplate } from "../../../tutti/src/schema/api/template-routes.ts";
import type { Budget, BudgetKind } from "../../../tutti/src/schema/budget.ts";
import type { Template } from "../../../tutti/src/schema/template.ts";
import "../styles/run.css";
import "../styles/new-run.css";

interface Properties {
  /** The new run takes its settings from this run. */
  from: string | null;
  /** The new run continues from the result of this ended run. */
  after: string | null;
  template: string | null;
}

interface Fields {
  message: string;
  cwd: string;
  templateId: string;
  agent: string;
  /** Agents of phases and roles; an empty text is the usual one. */
  roles: Record<string, string>;
  maxWorkers: string;
  /** By kind; a missing or empty text is no limit. */
  limits: Limits;
}

interface KeptForm {
  given: Partial<Fields>;
  filledIn: Record<string, string> | null;
  key: string;
}

type Limits = Partial<Record<BudgetKind, string>>;

const EMPTY: Fields = {
  message: "",
  cwd: "",
  templateId: "documentation",
  agent: "",
  roles: {},
  maxWorkers: "",
  limits: {},
};

/** Every kind except `usd`, which has a field of its own. */
const OTHER_LIMITS: [kind: BudgetKind, name: string, min: number][] = [
  ["tokens", translate("Most tokens"), 1],
  ["minutes", translate("Most minutes"), 1],
  ["turns", translate("Most turns"), 1],
  ["descendants", translate("Most sessions"), 1],
  ["depth", translate("Depth of sub-sessions"), 0],
];

export function NewRunPage({ from, after, template: wanted }: Properties) {
  const rework = after === null ? "" : reworkRequest(readNotes(after));
  // Further comments on lines of the result are another request.
  const place = [from, after, wanted, rework].join(" ");
  const [kept] = useState(() => readForm<KeptForm>(place));
  const [given, setGiven] = useState<Partial<Fields>>(kept.given ?? {});
  const [filledIn, setVariables] = useState<Record<string, string> | null>(kept.filledIn ?? null);
  const refusal = useRefusal();
  const key = useRef(kept.key ?? newKey());
  const runs = useLive((state) => state.runs);
  const usualFolder = useRef<string | null>(null);
  // A run that starts meanwhile must not change the folder of this form.
  if (runs !== null) usualFolder.current ??= runs.at(-1)?.cwd ?? "";
  const { value: source, error: sourceError } = useRequest(from, (signal) => server.get(from!, signal));
  const fields: Fields = {
    ...EMPTY,
    ...(wanted !== null && { templateId: wanted }),
    cwd: usualFolder.current ?? "",
    ...(source && {
      // Comments on lines of the result become the request of the follow-up run.
      message: after === null ? source.userRequest : rework,
      cwd: source.cwd,
      templateId: source.templateId,
      agent: source.agent,
      ...settingsOf(source),
    }),
    ...given,
  };
  const variables = filledIn ?? textsOf(source?.customVariables ?? {});
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
  const usualAgents = template?.phases ? agentsByRole(template) : [];
  const roles = Object.fromEntries(
    usualAgents.flatMap(([name, usual]) => {
      const chosen = fields.roles[name] ?? "";
      return chosen === "" || chosen === usual ? [] : [[name, chosen]];
    }),
  );
  // The template has the usual number already, also if that changes later.
  const isUsual = given.maxWorkers === undefined && fields.maxWorkers === String(template?.config?.maxWorkers);
  const maxWorkers = isUsual ? "" : fields.maxWorkers;
  const doctor = useRequest(refusal === null ? "doctor" : null, (signal) => server.call("GET /api/doctor", { signal }));
  const settings = useRequest(refusal === null ? "settings" : null, (signal) =>
    server.call("GET /api/settings", { signal }),
  );
  usePageTitle(translate("New run"));

  const isKnown = runs?.some(({ id }) => id === after) ?? false;
  const set = (part: Partial<Fields>) => setGiven((now) => ({ ...now, ...part }));
  const custom = template?.variables ?? {};
  const missing = [
    fields.message.trim() === "" && translate("a request"),
    !isAbsolute(fields.cwd) && translate("the path of a folder"),
    after !== null && !isKnown && translate("the run that this one should follow"),
  ].filter((name): name is string => typeof name === "string");
  // The settings of `source` are not in the form yet.
  const isIncomplete = from !== null && source === null && sourceError === null;
  const limits = Object.entries(fields.limits).filter(([, value]) => value !== "");
  const hasOtherLimits = limits.some(([kind]) => kind !== "usd");
  const setLimit = (kind: BudgetKind, value: string) => change({ limits: { ...fields.limits, [kind]: value } });
  const filled = Object.entries(variables).filter(([, value]) => value !== "");
  const customVariables = Object.fromEntries(filled.map(([name, value]) => [name, typed(custom, name, value)]));
  const create = useAction(async () => {
    const goTo = navigateAfter();
    const { orchestratorId } = await server.create(
      {
        templateId: fields.templateId,
        cwd: fields.cwd.trim(),
        message: fields.message,
        autoStart: true,
        customVariables,
        ...(fields.agent !== "" && { agent: fields.agent }),
        ...(Object.keys(roles).length > 0 && { roles }),
        ...(maxWorkers !== "" && { config: { maxWorkers: Number(maxWorkers) } }),
        ...(limits.length > 0 && { budget: Object.fromEntries(limits.map(([kind, value]) => [kind, Number(value)])) }),
        ...(after !== null && { after }),
      },
      key.current,
    );
    forgetForm(place);
    goTo(runAddress(orchestratorId));
  });
  const change = (part: Partial<Fields>) => {
    // The idempotency key makes a repeated submit the same run, so another request needs another key.
    key.current = newKey();
    set(part);
  };
  const setVariable = (name: string, value: string) => {
    setVariables({ ...variables, [name]: value });
    change({});
  };
  // Other effects follow the next frame, and a reload before it would lose the last letters.
  useLayoutEffect(() => {
    if (Object.keys(given).length > 0 || filledIn !== null)
      keepForm(place, { given, filledIn, key: key.current } satisfies KeptForm);
  }, [given, filledIn]);
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (missing.length === 0 && !isIncomplete) create.run();
  };
  const rows = (templates.value ?? []) as ListedTemplate[];
  const choices = agentChoices(doctor.value?.checks ?? [], settings.value?.agents ?? []);
  const agent = fields.agent || template?.config?.agent || settings.value?.agent || "local";

  return (
    <div className="page page-form">
      <div className="page-title">
        <h1>{after === null ? translate("New run") : translate("Follow-up run")}</h1>
      </div>
      {refusal !== null && <Notice tone="warning">{refusal}</Notice>}
      {/* Only the id of a known run is shown: a link must not put words on the page. */}
      {after !== null && isKnown && (
        <Notice tone="neutral">
          {translate("It starts from the result of {after}, and its prompts describe that run.", { after })}
        </Notice>
      )}
      {after !== null && runs !== null && !isKnown && (
        <Notice tone="bad">{translate("The run that this one should follow does not exist.")}</Notice>
      )}
      <form className="card new-run" onSubmit={submit}>
        <FormField
          name={translate("Request")}
          note={translate("What the agents should do. You confirm the plan before any worker starts.")}
        >
          {(id) => (
            <textarea
              id={id}
              className="field"
              rows={4}
              ref={focusOnMount}
              value={fields.message}
              onChange={({ target }) => change({ message: target.value })}
            />
          )}
        </FormField>
        <FormField name={translate("Folder")} note={translate("The path of a git repository on the server's machine.")}>
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
        </FormField>
        <FormField name={translate("Template")} note={shown(sayBuiltIn(template?.description ?? ""), 300)}>
          {(id) => (
            <select
              id={id}
              className="field"
              value={fields.templateId}
              onChange={({ target }) => {
                setVariables({});
                change({ templateId: target.value, roles: {} });
              }}
            >
              {rows
                .filter(({ isInternal, valid }) => valid && !isInternal)
                .map(({ id: each, name }) => (
                  <option key={each} value={each}>
                    {shown(sayBuiltIn(name), 80)}
                  </option>
                ))}
              {!rows.some(({ id: each }) => each === fields.templateId) && <option>{fields.templateId}</option>}
            </select>
          )}
        </FormField>
        {Object.keys(custom).length > 0 && (
          <fieldset className="new-run-group">
            <legend>{translate("Variables of the template")}</legend>
            {Object.entries(custom).map(([name, byDefault]) => (
              <VariableField
                key={name}
                name={name}
                byDefault={byDefault}
                value={variables[name] ?? ""}
                onChange={(value) => setVariable(name, value)}
              />
            ))}
          </fieldset>
        )}
        <AgentSelect
          name={translate("Agent")}
          choices={choices}
          usual={translate("Agent of the template or the settings")}
          value={fields.agent}
          isLoading={doctor.isLoading}
          onChange={(value) => change({ agent: value })}
        />
        {usualAgents.length > 0 && (
          <fieldset className="new-run-group">
            <legend>{translate("Agent of each phase and role")}</legend>
            {usualAgents.map(([name, usual]) => (
              <AgentSelect
                key={name}
                name={roleWord(name)}
                choices={choices}
                usual={translate("Default: {value}", { value: withState(usual ?? agent, choices) })}
                value={roles[name] ?? ""}
                isLoading={doctor.isLoading}
                onChange={(value) => change({ roles: { ...fields.roles, [name]: value } })}
              />
            ))}
          </fieldset>
        )}
        <div className="new-run-pair">
          <NumberField
            name={translate("Most workers")}
            min={1}
            max={20}
            placeholder={String(template?.config?.maxWorkers ?? "")}
            value={maxWorkers}
            onChange={(value) => change({ maxWorkers: value })}
          />
          <NumberField
            name={translate("Budget in US dollars")}
            min={0}
            isAmount
            placeholder={translate("no limit")}
            value={fields.limits.usd ?? ""}
            onChange={(usd) => setLimit("usd", usd)}
          />
        </div>
        <details className="folded" open={hasOtherLimits || undefined}>
          <summary>{translate("Other limits")}</summary>
          <div className="new-run-pair">
            {OTHER_LIMITS.map(([kind, name, min]) => (
              <NumberField
                key={kind}
                name={name}
                min={min}
                placeholder={translate("no limit")}
                value={fields.limits[kind] ?? ""}
                onChange={(value) => setLimit(kind, value)}
              />
            ))}
          </div>
        </details>
        {template?.phases && (
          <FactList rows={[[translate("Estimate"), estimateOf(runs ?? [], fields.templateId, agent)]]} />
        )}
        <div className="answer-row">
          <PromptPreview
            templateId={fields.templateId}
            project={project}
            variables={{
              ...customVariables,
              ...(fields.message.trim() !== "" && { USER_REQUEST: fields.message, ORIGINAL_REQUEST: fields.message }),
            }}
          />
          <button
            type="submit"
            className="button button-primary"
            title={
              refusal ??
              (missing.length > 0 ? translate("Give {missing}.", { missing: missing.join(", ") }) : undefined)
            }
            disabled={create.busy || refusal !== null || missing.length > 0 || isIncomplete}
          >
            {translate("Start run")}
          </button>
        </div>
        {/* `tutti run` has no flags for the other limits. */}
        {missing.length === 0 && !isIncomplete && !hasOtherLimits && (
          <CopyLine
            label={translate("The same as a command")}
            text={commandOf({ ...fields, roles, maxWorkers }, after, variables)}
          />
        )}
        <ActionError error={create.error ?? sourceError} />
      </form>
    </div>
  );
}

/** A page of another machine over plain HTTP has no `crypto.randomUUID`. */
const newKey = (): string => crypto.getRandomValues(new Uint32Array(4)).join("-");

/** The agents, workers and limits of another run. */
function settingsOf(source: object): Pick<Fields, "roles" | "maxWorkers" | "limits"> {
  const { budget = {}, template } = source as { budget?: Budget; template: Partial<Template> };
  const { phases, roles } = template;
  return {
    roles: Object.fromEntries(phases ? agentsByRole({ phases, roles }).map(([name, agent = ""]) => [name, agent]) : []),
    maxWorkers: String(template.config?.maxWorkers ?? ""),
    limits: Object.fromEntries(Object.entries(budget).map(([kind, value]) => [kind, String(value)])),
  };
}

const isAbsolute = (path: string): boolean => /^(\/|[A-Za-z]:[\\/])/.test(path.trim());

/** The values of another run as the texts of this form; the opposite of `typed`. */
const textsOf = (values: Record<string, unknown>): Record<string, string> =>
  Object.fromEntries(Object.entries(values).map(([name, value]) => [name, String(value)]));

/** Inputs are text; numbers and booleans are sent as such, by the type of the template's own value. */
function typed(custom: Template["variables"], name: string, value: string): unknown {
  const byDefault = Object.hasOwn(custom, name) ? custom[name] : undefined;
  if (typeof byDefault === "number") return Number(value);
  if (typeof byDefault === "boolean") return value === "true";
  return value;
}

function commandOf(fields: Fields, after: string | null, variables: Record<string, string>): string {
  const { message, cwd, templateId, agent, roles, maxWorkers, limits } = fields;
  const { usd = "" } = limits;
  const given = Object.entries(variables).filter(([, value]) => value !== "");
  return [
    "tutti",
    "run",
    message,
    "--template",
    templateId,
    "--cwd",
    cwd.trim(),
    ...(after === null ? [] : ["--after", after]),
    ...(agent === "" ? [] : ["--agent", agent]),
    ...Object.entries(roles).flatMap((pair) => ["--role", pair.join("=")]),
    ...given.flatMap(([name, value]) => ["--var", `${name}=${value}`]),
    ...(maxWorkers === "" ? [] : ["--max-workers", maxWorkers]),
    ...(usd === "" ? [] : ["--max-usd", usd]),
  ]
    .map(shellQuote)
    .join(" ");
}

/** From the completed runs of the template, with the same agent if there are any. Null without one. */
function estimateOf(runs: readonly ListedRun[], templateId: string, agent: string): string | null {
  const past = runs.filter((run) => run.status === "completed" && run.templateId === templateId);
  const alike = past.filter((run) => run.agent === agent);
  const used = alike.length > 0 ? alike : past;
  if (used.length === 0) return null;
  const mean = (of: (run: ListedRun) => number) => used.reduce((sum, run) => sum + of(run), 0) / used.length;
  return translate("{usd} and {time}, the average of {runs}", {
    usd: money(mean(({ usage }) => usage.usd)),
    time: duration(mean(({ startedAt, completedAt }) => Date.parse(completedAt ?? "") - Date.parse(startedAt ?? ""))),
    runs: plural(used.length, "run"),
  });
}
