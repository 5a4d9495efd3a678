import { translate } from "../text/language.ts";
import { useState } from "react";
import { ActionError } from "../errors/action-error.tsx";
import { useAction } from "./use-action.ts";
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
  const [asking, setAsking] = useState(false);
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
      <button type="button" className="button" autoFocus onClick={() => setAsking(false)}>
        {translate("No")}
      </button>
      <ActionError error={action.error} />
    </span>
  );
}
