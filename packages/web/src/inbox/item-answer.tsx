import { AgentWords } from "../text/agent-words.tsx";
import { say, translate } from "../text/language.ts";
import { useId, useRef, useState, type FormEvent } from "react";
import { planErrorsOf, type AnyItem } from "./item-look.ts";
import { useRefusal } from "../live/use-live.ts";
import { ActionError } from "../errors/action-error.tsx";
import { Notice } from "../parts/notice.tsx";
import { isSendKey, useKeys } from "../shell/keys.ts";
import { Link } from "../shell/link.tsx";
import { runAddress } from "../shell/page-route.ts";
import { server } from "../shell/server.ts";
import { useAction } from "../shell/use-action.ts";
import { forgetDraft, hasDraft, keepDraft, useDraftText } from "../text/drafts.ts";
import { shown } from "../text/safe-text.ts";
import { shellQuote } from "../text/shell-quote.ts";
import { isOfAgent } from "../../../tutti/src/run/describe-event.ts";
import type { PersonAnswer } from "../../../tutti/src/schema/inbox.ts";
import { capitalize } from "../../../tutti/src/sentence.ts";

interface Properties {
  item: AnyItem;
  /** Whether keys answer this item. Only one item of a page may have them. */
  hasKeys?: boolean;
  /** True for an option that the state of the run does not allow now. */
  isImpossible?: (option: number) => boolean;
}

const MOST_OPTIONS = 9;

/** The text field of an answer by kind. Kinds without an entry accept only their `options`, if they have any. */
const FIELDS: Partial<Record<AnyItem["kind"], { label: string; submit: string }>> = {
  question: { label: translate("Your answer"), submit: translate("Answer") },
  decision: { label: translate("Your answer"), submit: translate("Answer") },
  blocker: { label: translate("Your answer"), submit: translate("Answer") },
  permission: { label: translate("Refuse, and tell the agent why"), submit: translate("Refuse") },
  plan: { label: translate("Request changes"), submit: translate("Request a new plan") },
};

/** `hash` binds the answer to the version of the item on the screen. */
export function ItemAnswer({ item, hasKeys = false, isImpossible = () => false }: Properties) {
  const { id, kind, hash, options = [] } = item;
  const text = useDraftText(id);
  const field = useId();
  const box = useRef<HTMLTextAreaElement>(null);
  const answer = useRef<PersonAnswer | null>(null);
  const [amount, setAmount] = useState("");
  const refusal = useRefusal();
  // Edits of the plan are made in `PlanCard`, which confirms the plan with them. An answer from here has none.
  const hasEdits = useDraftText(id, "edits") !== "";
  const write = (words: string) =>
    keepDraft({ item: id, part: "words", run: item.run, title: item.question, text: words });
  const action = useAction(async () => {
    // `forgetDraft` comes first: `LostDrafts` would report the words of an item that is gone.
    forgetDraft(id);
    try {
      await server.answer(id, answer.current!);
    } catch (error) {
      if (!hasDraft(id)) write(text);
      throw error;
    }
  });
  const isBlocked = action.busy || refusal !== null;
  const give = (given: PersonAnswer) => {
    if (isBlocked) return;
    answer.current = { ...given, hash };
    action.run();
  };
  const choose = (option: number) => {
    if (option >= Math.min(options.length, MOST_OPTIONS) || isImpossible(option)) return false;
    give({ option });
    return true;
  };
  const command = `tutti answer ${id}`;
  const unit = (item.evidence as { kind?: string } | undefined)?.kind ?? "usd";
  const limit = { [unit]: Number(amount) };
  const form = FIELDS[kind] ?? (options.length > 0 ? null : FIELDS.question!);
  const canApprove = kind === "plan" || kind === "permission";
  const canConfirm = kind === "plan" && planErrorsOf(item).length === 0;
  const approve = () => {
    if (kind === "permission" || (canConfirm && !hasEdits)) give({ approve: true });
  };
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (text.trim() === "") return;
    give(canApprove ? { approve: false, text } : { text });
  };
  useKeys(
    hasKeys
      ? {
          // A key that is held down repeats itself, and would answer the items that follow.
          ...Object.fromEntries(
            options
              .slice(0, MOST_OPTIONS)
              .map((_, at) => [String(at + 1), ({ repeat }: KeyboardEvent) => !repeat && choose(at)]),
          ),
          ...(canApprove && { a: ({ repeat }: KeyboardEvent) => !repeat && approve() }),
          ...(form && { r: () => box.current?.focus() }),
        }
      : {},
  );
  const hint = (key: string) => (hasKeys ? <kbd aria-hidden="true">{key}</kbd> : null);

  return (
    <div className="item-answer">
      {hasEdits && (
        <Notice tone="warning">
          {translate("You edited this plan, and an answer from here would not have your edits.")}{" "}
          <Link to={runAddress(item.run)}>{translate("Confirm it in the run")}</Link>{" "}
          <button type="button" className="button" onClick={() => forgetDraft(id, "edits")}>
            {translate("Discard my edits")}
          </button>
        </Notice>
      )}
      {(options.length > 0 || canConfirm) && (
        <div className="answer-row">
          {canConfirm && (
            <button
              type="button"
              className="button button-primary"
              title={refusal ?? (hasEdits ? translate("You edited this plan.") : `${command} --approve`)}
              data-command={hasEdits ? undefined : `${command} --approve`}
              disabled={isBlocked || hasEdits}
              onClick={approve}
            >
              {translate("Confirm plan")} {hint("a")}
            </button>
          )}
          {options.slice(0, MOST_OPTIONS).map((option, at) => (
            <button
              key={option}
              type="button"
              className="button"
              title={refusal ?? `${command} --option ${at}`}
              data-command={`${command} --option ${at}`}
              disabled={isBlocked || isImpossible(at)}
              onClick={() => choose(at)}
            >
              <span className="clip">
                {isOfAgent(item) || kind === "decision" ? (
                  <AgentWords text={capitalize(kind === "decision" ? say(option) : option)} max={60} />
                ) : (
                  shown(capitalize(say(option)), 60)
                )}
              </span>{" "}
              {hint(String(at + 1))}
            </button>
          ))}
        </div>
      )}
      {form && (
        <form className="answer" onSubmit={submit}>
          <label htmlFor={field}>
            {form.label} {hint("r")}
          </label>
          <textarea
            ref={box}
            id={field}
            rows={2}
            value={text}
            disabled={refusal !== null}
            aria-label={kind === "question" || kind === "decision" ? translate("Your answer") : undefined}
            onChange={({ target }) => write(target.value)}
            onKeyDown={(event) => {
              if (isSendKey(event)) submit(event);
            }}
          />
          <div className="answer-row">
            <button
              type="submit"
              className={`button${options.length === 0 && !canConfirm ? " button-primary" : ""}`}
              title={refusal ?? undefined}
              data-command={`${command}${canApprove ? " --reject" : ""} ${shellQuote(text)}`}
              disabled={isBlocked || text.trim() === ""}
            >
              {form.submit}
            </button>
          </div>
        </form>
      )}
      {kind === "budget" && (
        <form
          className="answer-row"
          onSubmit={(event) => {
            event.preventDefault();
            if (Number(amount) > 0) give({ data: limit });
          }}
        >
          <label htmlFor={field}>{translate("New limit")}</label>
          <input
            id={field}
            className="field is-short"
            type="number"
            min="0"
            step="any"
            value={amount}
            onChange={({ target }) => setAmount(target.value)}
          />
          <button
            type="submit"
            className="button"
            title={refusal ?? (Number(amount) > 0 ? undefined : translate("Enter an amount above 0."))}
            data-command={dataCommand(id, limit)}
            disabled={isBlocked || !(Number(amount) > 0)}
          >
            {translate("Set the limit")}
          </button>
        </form>
      )}
      {kind === "data" && <DataForm item={id} isBlocked={isBlocked} refusal={refusal} give={give} />}
      <ActionError error={action.error} />
    </div>
  );
}

interface DataProperties {
  item: string;
  isBlocked: boolean;
  refusal: string | null;
  give: (answer: PersonAnswer) => void;
}

/** For a phase that no session could provide data for. */
function DataForm({ item, isBlocked, refusal, give }: DataProperties) {
  const field = useId();
  const [text, setText] = useState("");
  const data = readObject(text);
  return (
    <form
      className="answer"
      onSubmit={(event) => {
        event.preventDefault();
        if (data) give({ data });
      }}
    >
      <label htmlFor={field}>{translate("Data as a JSON object")}</label>
      <textarea
        id={field}
        className="mono"
        rows={4}
        spellCheck={false}
        value={text}
        onChange={({ target }) => setText(target.value)}
      />
      <div className="answer-row">
        <button
          type="submit"
          className="button button-primary"
          title={refusal ?? (data === null ? translate("Enter a JSON object.") : undefined)}
          data-command={data === null ? undefined : dataCommand(item, data)}
          disabled={isBlocked || data === null}
        >
          {translate("Submit data")}
        </button>
        {text.trim() !== "" && data === null && (
          <span className="muted" role="status">
            {translate("This is not a JSON object.")}
          </span>
        )}
      </div>
    </form>
  );
}

const dataCommand = (item: string, data: object): string => `tutti answer ${item} ${shellQuote(JSON.stringify(data))}`;

function readObject(text: string): Record<string, unknown> | null {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null && !Array.isArray(value)
      ? (value as Record<string, unknown>)
      : null;
  } catch {
    return null;
  }
}
