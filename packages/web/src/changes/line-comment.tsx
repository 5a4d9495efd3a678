import { useId, useState, type FormEvent } from "react";
import { ActionError } from "../shell/action-error.tsx";
import { server } from "../shell/server.ts";
import { useAction } from "../shell/use-action.ts";

interface Properties {
  run: string;
  taskId: string;
  /** File and line. */
  place: string;
  code: string;
  onClose: () => void;
}

/** A comment on a line becomes a message to the worker that wrote it. */
export function LineComment({ run, taskId, place, code, onClose }: Properties) {
  const [text, setText] = useState("");
  const field = useId();
  const action = useAction(async () => {
    await server.order(run, "message", { text: `About ${place}:\n> ${code}\n${text}`, taskId });
    onClose();
  });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (text.trim() !== "") action.run();
  };
  return (
    <form className="answer line-comment" onSubmit={submit}>
      <label htmlFor={field}>{`Message to ${taskId} about ${place}`}</label>
      <textarea id={field} autoFocus rows={2} value={text} onChange={({ target }) => setText(target.value)} />
      <div className="answer-row">
        <button type="button" className="button" onClick={onClose}>
          Close
        </button>
        <button type="submit" className="button button-primary" disabled={action.busy || text.trim() === ""}>
          Send
        </button>
      </div>
      <ActionError error={action.error} />
    </form>
  );
}
