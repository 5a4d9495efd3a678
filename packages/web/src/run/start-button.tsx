import { ActionError } from "../shell/action-error.tsx";
import { server } from "../shell/server.ts";
import { useAction } from "../shell/use-action.ts";

export function StartButton({ id }: { id: string }) {
  const start = useAction(() => server.start(id));
  return (
    <>
      <button type="button" className="button button-primary" disabled={start.busy} onClick={start.run}>
        Start
      </button>
      <ActionError error={start.error} />
    </>
  );
}
