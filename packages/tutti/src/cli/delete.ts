// `tutti delete`: tidy up after a run. Its branch and its refs stay.
import { plural } from "./describe.ts";
import { findRunId } from "./find-run.ts";
import { withEngine } from "./local-engine.ts";
import type { Output } from "./output.ts";

export interface DeleteFlags {
  archive: boolean;
  deleteWorkers?: boolean;
  keepState?: boolean;
}

export async function deleteRun(output: Output, typed: string, flags: DeleteFlags): Promise<number> {
  return withEngine(output, {}, async (engine) => {
    const id = findRunId(engine, typed);
    const options = { archiveWorkers: flags.archive, deleteWorkers: flags.deleteWorkers ?? false };
    const done = await engine.cleanup(id, { ...options, removeState: !flags.keepState });
    output.value({ id, ...done });
    for (const { sessionId, error } of done.errors) output.warn(`${sessionId} could not be archived: ${error}`);
    const sessions = [
      ...(options.archiveWorkers ? [`${plural(done.archived, "session")} archived`] : []),
      ...(options.deleteWorkers ? [`${plural(done.deleted, "session")} removed`] : []),
    ];
    output.result([`${id} is ${done.removed ? "deleted" : "tidied up"}`, ...sessions].join(", "));
    return 0;
  });
}
