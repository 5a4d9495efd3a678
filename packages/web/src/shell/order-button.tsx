import { ActionError } from "./action-error.tsx";
import { useAction } from "./use-action.ts";

interface Properties {
  word: string;
  /** For those who do not see what it stands beside. */
  label?: string;
  primary?: boolean;
  danger?: boolean;
  order: () => Promise<unknown>;
}

/** An order to the server, with what it is refused with beside it. */
export function OrderButton({ word, label, primary = false, danger = false, order }: Properties) {
  const action = useAction(order);
  const kind = primary ? " button-primary" : danger ? " button-danger" : "";
  return (
    <>
      <button type="button" className={`button${kind}`} aria-label={label} disabled={action.busy} onClick={action.run}>
        {word}
      </button>
      <ActionError error={action.error} />
    </>
  );
}
