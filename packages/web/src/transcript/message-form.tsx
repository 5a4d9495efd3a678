import { translate } from "../text/language.ts";
import { useId, useState, type FormEvent } from "react";
import { useRefusal } from "../live/use-live.ts";
import { ActionError } from "../errors/action-error.tsx";
import { server } from "../shell/server.ts";
import { useAction } from "../shell/use-action.ts";
import { shellQuote } from "../text/shell-quote.ts";

/** Without `taskId` the main session receives the message. */
export function MessageForm({ run, taskId }: { run: string; taskId: string | null }) {
  const [text, setText] = useState("");
  const field = useId();
  const refusal = useRefusal();
  const action = useAction(async () => {
    await server.order(run, "message", { text, ...(taskId !== null && { taskId }) });
    // The user may write the next message already.
    setText((now) => (now === text ? "" : now));
  });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (text.trim() !== "") action.run();
  };
  return (
    <form className="message-form" onSubmit={submit}>
      <label htmlFor={field} className="visually-hidden">
        {translate("Message to")} {taskId ?? translate("the main session")}
      </label>
      <input
        id={field}
        className="field"
        placeholder={translate("Message to the agent")}
        value={text}
        disabled={refusal !== null}
        title={refusal ?? undefined}
        onChange={({ target }) => setText(target.value)}
      />
      <button
        type="submit"
        className="button"
        title={refusal ?? undefined}
        data-command={`tutti message ${run} ${shellQuote(text)}${taskId === null ? "" : ` --task ${taskId}`}`}
        disabled={action.busy || refusal !== null || text.trim() === ""}
      >
        {translate("Send")}
      </button>
      <ActionError error={action.error} />
    </form>
  );
}
