import { translate } from "../text/language.ts";
import { useId, useState, type FormEvent } from "react";
import type { CommentTarget } from "./comment-target.ts";
import { useRefusal } from "../live/use-live.ts";
import { ActionError } from "../errors/action-error.tsx";
import { focusOnMount } from "../parts/focus-on-mount.ts";
import { isSendKey } from "../shell/keys.ts";
import { useAction } from "../shell/use-action.ts";

interface Properties {
  target: CommentTarget;
  /** Has the form `path:line`. */
  place: string;
  code: string;
  onClose: () => void;
}

export function LineComment({ target, place, code, onClose }: Properties) {
  const [text, setText] = useState("");
  const field = useId();
  const refusal = useRefusal();
  const action = useAction(async () => {
    await target.send({ place, code, text });
    onClose();
  });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (text.trim() !== "" && refusal === null) action.run();
  };
  return (
    <form className="answer line-comment" onSubmit={submit}>
      <label htmlFor={field}>{translate("{name} about {place}", { name: target.name, place })}</label>
      <textarea
        id={field}
        ref={focusOnMount}
        rows={2}
        value={text}
        onChange={({ target: { value } }) => setText(value)}
        onKeyDown={(event) => {
          if (isSendKey(event)) submit(event);
        }}
      />
      <div className="answer-row">
        <button type="button" className="button" onClick={onClose}>
          {translate("Close")}
        </button>
        <button
          type="submit"
          className="button button-primary"
          title={refusal ?? undefined}
          disabled={action.busy || refusal !== null || text.trim() === ""}
        >
          {target.verb}
        </button>
      </div>
      <ActionError error={action.error} />
    </form>
  );
}
