import { useId, useState, type FormEvent } from "react";
import { ActionError } from "../shell/action-error.tsx";
import { useAction } from "../shell/use-action.ts";
import { AgentText } from "../text/agent-text.tsx";

interface Properties {
  label: string;
  placeholder?: string;
  /** The word on the button. */
  submit: string;
  /** For JSON: a larger field without a spell checker. */
  mono?: boolean;
  /** Texts that the user may choose instead of writing one. */
  options?: readonly string[] | undefined;
  isValid?: (text: string) => boolean;
  send: (text: string) => Promise<unknown>;
}

const isWritten = (text: string): boolean => text.trim() !== "";

/** A text field whose content is sent to the server. */
export function AnswerForm({
  label,
  placeholder,
  submit,
  mono = false,
  options = [],
  isValid = isWritten,
  send,
}: Properties) {
  const [text, setText] = useState("");
  const field = useId();
  const action = useAction(() => send(text));
  const onSubmit = (event: FormEvent) => {
    event.preventDefault();
    if (isValid(text)) action.run();
  };
  return (
    <form className="answer" onSubmit={onSubmit}>
      <label htmlFor={field} className={label === placeholder ? "visually-hidden" : undefined}>
        {label}
      </label>
      <textarea
        id={field}
        className={mono ? "mono" : undefined}
        rows={mono ? 4 : 2}
        placeholder={placeholder}
        value={text}
        spellCheck={!mono}
        onChange={(event) => setText(event.target.value)}
      />
      <div className="answer-row">
        {options.map((option) => (
          <button key={option} type="button" className="button" onClick={() => setText(option)}>
            <AgentText text={option} max={60} />
          </button>
        ))}
        <button type="submit" className="button button-primary" disabled={action.busy || !isValid(text)}>
          {submit}
        </button>
      </div>
      <ActionError error={action.error} />
    </form>
  );
}
