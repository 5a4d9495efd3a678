import { translate } from "../text/language.ts";
import { CancelButton } from "./cancel-button.tsx";
import { ForkButton } from "./fork-button.tsx";
import { Link } from "../shell/link.tsx";
import { OrderButton } from "../shell/order-button.tsx";
import { newRunAddress } from "../shell/page-route.ts";
import { server } from "../shell/server.ts";
import type { Run } from "../../../tutti/src/schema/run.ts";
import { isRunOver } from "../../../tutti/src/schema/status.ts";

/** A run that `waits` for a decision or a budget has no Resume button: the answer resumes it. */
export function RunActions({ run }: { run: Run }) {
  const { id, status } = run;
  const waits = Object.values(run.inbox).some(({ kind }) => kind === "decision" || kind === "budget");
  const canPause = status !== "created" && status !== "paused" && !isRunOver(status);
  return (
    <div className="run-actions">
      {status === "created" && (
        <OrderButton
          word={translate("Start")}
          primary
          command={`tutti start ${id}`}
          order={() => server.order(id, "start")}
        />
      )}
      {canPause && (
        <OrderButton word={translate("Pause")} command={`tutti pause ${id}`} order={() => server.order(id, "pause")} />
      )}
      {status === "paused" && !waits && (
        <OrderButton
          word={translate("Resume")}
          primary
          command={`tutti resume ${id}`}
          order={() => server.order(id, "resume")}
        />
      )}
      {!isRunOver(status) && status !== "confirming" && <CancelButton id={id} />}
      {status !== "created" && <ForkButton id={id} />}
      {isRunOver(status) && (
        <>
          <Link to={newRunAddress({ from: id })} className="button">
            {translate("Same again")}
          </Link>
          <Link to={newRunAddress({ from: id, after: id })} className="button">
            {translate("Follow up")}
          </Link>
        </>
      )}
    </div>
  );
}
