import type { SendOrder, SteerFlags } from "./steer-commands.ts";
import { plural } from "../../run/describe-event.ts";

export const deleteOrder =
  ({ archive = true, deleteWorkers = false, keepState = false }: SteerFlags): SendOrder =>
  async ({ runs, output, id }) => {
    const report = await runs.cleanup(id, { archiveWorkers: archive, deleteWorkers, removeState: !keepState });
    output.value({ id, ...report });
    for (const { sessionId, error } of report.errors ?? []) output.warn(`${sessionId} could not be archived: ${error}`);
    if (report.workspacesLeft)
      output.warn(
        `The repository of ${id} no longer exists, so its workspaces stay in "worktrees/${id}" of the data folder. Delete them when you need nothing in them.`,
      );
    const { archived, deleted, removed } = report;
    const lines = [
      `${id} is ${removed ? "deleted" : "cleaned up"}`,
      ...(archive && archived !== undefined ? [`${plural(archived, "session")} archived`] : []),
      ...(deleteWorkers && deleted !== undefined ? [`${plural(deleted, "session")} removed`] : []),
    ];
    output.result(lines.join(", "));
  };
