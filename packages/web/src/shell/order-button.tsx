import { ActionError } from "../errors/action-error.tsx";
import { useAction } from "./use-action.ts";
import { useRefusal } from "../live/use-live.ts";
import type { TokenRole } from "../../../tutti/src/schema/token-role.ts";

interface Properties {
  word: string;
  /** For screen readers, where `word` alone does not name its subject. */
  label?: string;
  /** Only shown; the caller listens to the key, for example with `useKeys`. */
  shortcut?: string;
  primary?: boolean;
  danger?: boolean;
  disabled?: boolean;
  /** Shown as the title while `disabled`. */
  reason?: string | undefined;
  needs?: TokenRole;
  /** Does the same in a terminal; `Frame` copies it. */
  command?: string | undefined;
  order: () => Promise<unknown>;
}

/** Shows the error of `order`, and the reason if this page lacks the role that `needs` names. */
export function OrderButton(properties: Properties) {
  const { word, label, shortcut, primary = false, danger = false, disabled = false, reason, needs } = properties;
  const { command, order } = properties;
  const action = useAction(order);
  const refusal = useRefusal(needs);
  const kind = primary ? " button-primary" : danger ? " button-danger" : "";
  return (
    <>
      <button
        type="button"
        className={`button${kind}`}
        aria-label={label}
        title={refusal ?? reason ?? command}
        data-command={command}
        disabled={disabled || action.busy || refusal !== null}
        onClick={action.run}
      >
        {word}
        {shortcut !== undefined && <kbd aria-hidden="true">{shortcut}</kbd>}
      </button>
      <ActionError error={action.error} />
    </>
  );
}
