import { ActionError } from "./action-error.tsx";
import { useAction } from "./use-action.ts";
import { useRefusal } from "../live/use-live.ts";
import type { TokenRole } from "../../../tutti/src/schema/token-role.ts";

interface Properties {
  word: string;
  /** For screen readers, where `word` alone does not name its subject. */
  label?: string;
  /** The key that does the same; the caller listens to it. */
  shortcut?: string;
  primary?: boolean;
  danger?: boolean;
  disabled?: boolean;
  /** Why the button is disabled. */
  reason?: string | undefined;
  needs?: TokenRole;
  order: () => Promise<unknown>;
}

/** A button that sends a request to the server and shows its error. Without the role for it, it says so. */
export function OrderButton(properties: Properties) {
  const { word, label, shortcut, primary = false, danger = false, disabled = false, reason, needs, order } = properties;
  const action = useAction(order);
  const refusal = useRefusal(needs);
  const kind = primary ? " button-primary" : danger ? " button-danger" : "";
  return (
    <>
      <button
        type="button"
        className={`button${kind}`}
        aria-label={label}
        title={refusal ?? reason}
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
