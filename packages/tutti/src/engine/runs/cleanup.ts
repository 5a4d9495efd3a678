import type { RunWriter } from "../run-writer.ts";
import { asTuttiError } from "../../schema/error.ts";
import type { SessionHost } from "../../session/session.ts";
import { workersOf } from "../../run/lookup.ts";

export interface CleanupOptions {
  archiveWorkers?: boolean;
  deleteWorkers?: boolean;
  removeState?: boolean;
  /** Reject the call unless the run is over and released and has no open inbox item. */
  onlyEnded?: boolean;
  /** With `removeState`, also free the kept work of the run, which otherwise stays until `tutti gc`. */
  freeWork?: boolean;
}

export interface CleanupResult {
  archived: number;
  deleted: number;
  removed: boolean;
  errors: { sessionId: string; error: string }[];
  /** Set if the run's repository is gone, so that its workspaces had to stay in the data folder. */
  workspacesLeft?: true;
}

export async function cleanUp(
  writer: RunWriter,
  sessions: SessionHost,
  options: Required<Omit<CleanupOptions, "onlyEnded" | "freeWork">>,
): Promise<CleanupResult> {
  const { archiveWorkers, deleteWorkers, removeState: removed } = options;
  const { id } = writer;
  const ids = workersOf(writer.run).map(({ sessionId }) => sessionId);
  const { archived, errors } = archiveWorkers ? await archive(writer, sessions) : { archived: 0, errors: [] };
  const deleted = deleteWorkers ? ids.length : 0;
  if (deleteWorkers) {
    await sessions.forget(id);
    const data = { orchestratorId: id, count: deleted };
    await writer.submit({ type: "record", event: { type: "workers:deleted", data } });
  }
  await writer.submit({
    type: "record",
    event: { type: "orchestrator:cleanup", data: { id, archived, deleted, removed } },
  });
  return { archived, deleted, removed, errors };
}

/** A session that fails goes into `errors` and does not stop the others. */
export async function archive(
  writer: RunWriter,
  sessions: SessionHost,
): Promise<Pick<CleanupResult, "archived" | "errors">> {
  const { id } = writer;
  const ids = workersOf(writer.run).map(({ sessionId }) => sessionId);
  const errors: CleanupResult["errors"] = [];
  for (const sessionId of ids) {
    await sessions.archive(id, sessionId).catch((error: unknown) => {
      errors.push({ sessionId, error: asTuttiError(error).message });
    });
  }
  const archived = ids.length - errors.length;
  const data = { orchestratorId: id, count: archived, errors };
  await writer.submit({ type: "record", event: { type: "workers:archived", data } });
  return { archived, errors };
}
