// `tutti delete`: tidy up after a run. Its branch and its refs stay.
import { plural } from "./describe.ts";
import { findRunId } from "./find-run.ts";
import type { Output } from "./output.ts";
import { steer } from "./steer.ts";

export interface DeleteFlags {
  archive: boolean;
  deleteWorkers?: boolean;
  keepState?: boolean;
}

export async function deleteRun(output: Output, typed: string, flags: DeleteFlags): Promise<number> {
  return steer(output, [], async (runs) => {
    const id = await findRunId(runs, typed);
    const options = { archiveWorkers: flags.archive, deleteWorkers: flags.deleteWorkers ?? false };
    const done = await runs.cleanup(id, { ...options, removeState: !flags.keepState });
    output.value({ id, ...done });
    for (const { sessionId, error } of done.errors ?? []) output.warn(`${sessionId} could not be archived: ${error}`);
    const sessions = [
      ...(options.archiveWorkers && done.archived !== undefined
        ? [`${plural(done.archived, "session")} archived`]
        : []),
      ...(options.deleteWorkers && done.deleted !== undefined ? [`${plural(done.deleted, "session")} removed`] : []),
    ];
    output.result([`${id} is ${done.removed ? "deleted" : "tidied up"}`, ...sessions].join(", "));
    return 0;
  });
}
