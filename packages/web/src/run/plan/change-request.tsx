import { useId, useState, type FormEvent } from "react";
import { ActionError } from "../../shell/action-error.tsx";
import { server } from "../../shell/server.ts";
import { useAction } from "../../shell/use-action.ts";

/** Sends the plan back to the main session with the user's changes. */
export function ChangeRequest({ id }: { id: string }) {
  const [text, setText] = useState("");
  const field = useId();
  const send = useAction(() => server.requestChanges(id, text));
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (text.trim() !== "") send.run();
  };
  return (
    <form className="answer change-request" onSubmit={submit}>
      <label htmlFor={field}>Request changes</label>
      <textarea
        id={field}
        rows={2}
        placeholder="Describe the changes. The main session makes a new plan."
        value={text}
        onChange={(event) => setText(event.target.value)}
      />
      <button type="submit" className="button" disabled={send.busy || text.trim() === ""}>
        Request a new plan
      </button>
      <ActionError error={send.error} />
    </form>
  );
}
