import { translate } from "../../text/language.ts";
import { useId, useState, type FormEvent } from "react";
import { useRefusal } from "../../live/use-live.ts";
import { ActionError } from "../../errors/action-error.tsx";
import { server } from "../../shell/server.ts";
import { useAction } from "../../shell/use-action.ts";
import { shellQuote } from "../../text/shell-quote.ts";
import type { Run } from "../../../../tutti/src/schema/run.ts";

/** The main session makes a new plan, which `PlanCard` compares with this one. */
export function RequestChanges({ run: { id, inbox } }: { run: Run }) {
  const [text, setText] = useState("");
  const field = useId();
  const item = Object.values(inbox).find(({ kind }) => kind === "plan");
  const refusal = useRefusal();
  const action = useAction(() => server.order(id, "requestChanges", { text }));
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (text.trim() !== "") action.run();
  };
  return (
    <form className="answer" onSubmit={submit}>
      <label htmlFor={field}>{translate("Request changes")}</label>
      <textarea
        id={field}
        rows={2}
        placeholder={translate("Describe the changes. The main session makes a new plan.")}
        value={text}
        disabled={refusal !== null}
        onChange={({ target }) => setText(target.value)}
      />
      <div className="answer-row">
        <button
          type="submit"
          className="button"
          title={refusal ?? undefined}
          data-command={item === undefined ? undefined : `tutti answer ${item.id} --reject ${shellQuote(text)}`}
          disabled={action.busy || refusal !== null || text.trim() === ""}
        >
          {translate("Request a new plan")}
        </button>
      </div>
      <ActionError error={action.error} />
    </form>
  );
}
