import { translate } from "../text/language.ts";
import { AskedButton } from "../shell/asked-button.tsx";
import { OrderButton } from "../shell/order-button.tsx";
import { server } from "../shell/server.ts";
import { canRetry } from "../../../tutti/src/run/rules/retry.ts";
import type { Run } from "../../../tutti/src/schema/run.ts";
import { isRunOver } from "../../../tutti/src/schema/status.ts";
import type { Worker } from "../../../tutti/src/schema/worker.ts";

/** A worker that was paused with its run has no Resume button: it resumes with the run. */
export function WorkerActions({ run, worker }: { run: Run; worker: Worker }) {
  const { taskId, sessionId, status } = worker;
  const open = !isRunOver(run.status);
  return (
    <div className="worker-actions">
      {open && status === "running" && (
        <OrderButton
          word={translate("Pause")}
          label={translate("Pause {taskId}", { taskId })}
          command={`tutti pause ${run.id} --task ${taskId}`}
          order={() => server.pauseWorker(run.id, sessionId)}
        />
      )}
      {open && status === "paused" && run.status !== "paused" && (
        <OrderButton
          word={translate("Resume")}
          label={translate("Resume {taskId}", { taskId })}
          command={`tutti resume ${run.id} --task ${taskId}`}
          order={() => server.resumeWorker(run.id, sessionId)}
        />
      )}
      {open && (status === "spawning" || status === "running" || status === "paused") && (
        <AskedButton
          word={translate("Cancel")}
          label={translate("Cancel {taskId}", { taskId })}
          question={translate("Cancel {taskId}? Its dependents cannot start.", { taskId })}
          yes={translate("Yes, cancel")}
          command={`tutti cancel ${run.id} --task ${taskId}`}
          order={() => server.cancelWorker(run.id, sessionId)}
        />
      )}
      {canRetry(run, taskId) && (
        <OrderButton
          word={translate("Retry")}
          command={`tutti retry ${run.id} ${taskId}`}
          label={translate("Retry {taskId}", { taskId })}
          order={() => server.order(run.id, "retry", { taskId })}
        />
      )}
    </div>
  );
}
