import { useState } from "react";
import { ActionError } from "../shell/action-error.tsx";
import { server } from "../shell/server.ts";
import { useAction } from "../shell/use-action.ts";

/** Asks for confirmation in place, because a cancelled run cannot be resumed. */
export function CancelButton({ id }: { id: string }) {
  const [asking, setAsking] = useState(false);
  const cancel = useAction(() => server.order(id, "cancel"));
  if (!asking) {
    return (
      <button type="button" className="button" onClick={() => setAsking(true)}>
        Cancel run
      </button>
    );
  }
  return (
    <span className="asking" role="group" aria-label="Cancel the run?">
      <span>Cancel this run? It cannot be resumed.</span>
      <button type="button" className="button button-danger" disabled={cancel.busy} onClick={cancel.run}>
        Yes, cancel
      </button>
      <button type="button" className="button" autoFocus onClick={() => setAsking(false)}>
        No
      </button>
      <ActionError error={cancel.error} />
    </span>
  );
}
