// `tutti delete`: cancels a run and cleans up after it. Its branch and its refs stay.
import { plural } from "../../run/describe-event.ts";
import { findRunId } from "../access/find-run.ts";
import type { Output } from "../terminal/output.ts";
import { withRuns } from "../access/open-runs.ts";

export interface DeleteFlags {
  archive: boolean;
  deleteWorkers?: boolean;
  keepState?: boolean;
}

export async function deleteRun(output: Output, idPrefix: string, flags: DeleteFlags): Promise<number> {
  return withRuns(output, async (runs) => {
    const id = await findRunId(runs, idPrefix);
    const options = { archiveWorkers: flags.archive, deleteWorkers: flags.deleteWorkers ?? false };
    const report = await runs.cleanup(id, { ...options, removeState: !flags.keepState });
    output.value({ id, ...report });
    for (const { sessionId, error } of report.errors ?? []) output.warn(`${sessionId} could not be archived: ${error}`);
    const sessions = [
      ...(options.archiveWorkers && report.archived !== undefined
        ? [`${plural(report.archived, "session")} archived`]
        : []),
      ...(options.deleteWorkers && report.deleted !== undefined
        ? [`${plural(report.deleted, "session")} removed`]
        : []),
    ];
    output.result([`${id} is ${report.removed ? "deleted" : "cleaned up"}`, ...sessions].join(", "));
    return 0;
  });
}
