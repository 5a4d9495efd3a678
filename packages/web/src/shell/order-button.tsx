import { ActionError } from "./action-error.tsx";
import { useAction } from "./use-action.ts";

interface Properties {
  word: string;
  /** For screen readers, where `word` alone does not name its subject. */
  label?: string;
  primary?: boolean;
  danger?: boolean;
  disabled?: boolean;
  order: () => Promise<unknown>;
}

/** A button that sends a request to the server and shows its error. */
export function OrderButton({ word, label, primary = false, danger = false, disabled = false, order }: Properties) {
  const action = useAction(order);
  const kind = primary ? " button-primary" : danger ? " button-danger" : "";
  return (
    <>
      <button
        type="button"
        className={`button${kind}`}
        aria-label={label}
        disabled={disabled || action.busy}
        onClick={action.run}
      >
        {word}
      </button>
      <ActionError error={action.error} />
    </>
  );
}
