import { translate } from "../../text/language.ts";
import { useId, type FormEvent } from "react";
import { useRefusal } from "../../live/use-live.ts";
import { ActionError } from "../../errors/action-error.tsx";
import { isSendKey } from "../../shell/keys.ts";
import { server } from "../../shell/server.ts";
import { useAction } from "../../shell/use-action.ts";
import { forgetDraft, hasDraft, keepDraft, useDraftText } from "../../text/drafts.ts";
import { shellQuote } from "../../text/shell-quote.ts";
import type { InboxItem } from "../../../../tutti/src/schema/inbox.ts";

/** The same draft as that of `ItemAnswer`, which sends the same words. */
export const keepWords = ({ id, run, question }: InboxItem, text: string): void =>
  keepDraft({ item: id, part: "words", run, title: question, text });

/** The main session makes a new plan, which `PlanCard` compares with this one. */
export function RequestChanges({ item }: { item: InboxItem }) {
  const text = useDraftText(item.id);
  const field = useId();
  const refusal = useRefusal();
  const action = useAction(async () => {
    forgetDraft(item.id);
    try {
      await server.order(item.run, "requestChanges", { text });
    } catch (error) {
      if (!hasDraft(item.id)) keepWords(item, text);
      throw error;
    }
  });
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
        onChange={({ target }) => keepWords(item, target.value)}
        onKeyDown={(event) => {
          if (isSendKey(event)) submit(event);
        }}
      />
      <div className="answer-row">
        <button
          type="submit"
          className="button"
          title={refusal ?? undefined}
          data-command={`tutti answer ${item.id} --reject ${shellQuote(text)}`}
          disabled={action.busy || refusal !== null || text.trim() === ""}
        >
          {translate("Request a new plan")}
        </button>
      </div>
      <ActionError error={action.error} />
    </form>
  );
}
