import { translate } from "../text/language.ts";
import { useState } from "react";
import { ActionError } from "../errors/action-error.tsx";
import { useAction } from "./use-action.ts";
import { focusOnMount } from "../parts/focus-on-mount.ts";
import { useRefusal } from "../live/use-live.ts";
import type { TokenRole } from "../../../tutti/src/schema/token-role.ts";

interface Properties {
  word: string;
  label?: string;
  question: string;
  yes: string;
  needs?: TokenRole;
  /** Does the same in a terminal; `Frame` copies it. */
  command?: string | undefined;
  order: () => Promise<unknown>;
}

/** Asks before an `order` that cannot be taken back. */
export function AskedButton({ word, label, question, yes, needs, command, order }: Properties) {
  /** Null until the button was pressed, false after a "no". */
  const [asking, setAsking] = useState<boolean | null>(null);
  const action = useAction(order);
  const refusal = useRefusal(needs);
  if (!asking) {
    return (
      <button
        type="button"
        className="button"
        aria-label={label}
        title={refusal ?? command}
        data-command={command}
        disabled={refusal !== null}
        // After a "no" the focus returns here from the button that has disappeared.
        ref={asking === false ? focusOnMount : null}
        onClick={() => setAsking(true)}
      >
        {word}
      </button>
    );
  }
  return (
    <span className="asking" role="group" aria-label={question}>
      <span>{question}</span>
      <button type="button" className="button button-danger" disabled={action.busy} onClick={action.run}>
        {yes}
      </button>
      <button type="button" className="button" ref={focusOnMount} onClick={() => setAsking(false)}>
        {translate("No")}
      </button>
      <ActionError error={action.error} />
    </span>
  );
}
