// A registered sub-session belongs to the server's log. `reportTo` informs the run that its parent belongs to, because
// a natural run waits for it and counts it.
import type { Report } from "../command.ts";
import { isOpen, type SubSession } from "../fold/sub-sessions.ts";
import { entryOf } from "../fold/shared-record.ts";
import { workerOfSession } from "../lookup.ts";
import type { Run } from "../../schema/run.ts";
import { isRunOver, type SubagentEnd } from "../../schema/status.ts";

/** Returns null if `run.subagents` has the state of `relation`. `root` is the session of the run above it. */
export function reportTo(run: Run, relation: SubSession, root: string): Report | null {
  const { childSessionId, parentSessionId, taskToolId, error } = relation;
  const known = run.subagents && entryOf(run.subagents, childSessionId);
  const isKnownOpen = known !== undefined && known.endedAt === null;
  if (isRunOver(run.status) || isKnownOpen === isOpen(relation)) return null;
  const parent = parentSessionId === root ? null : parentSessionId;
  const subagent = {
    childSessionId,
    phase: isKnownOpen ? ("done" as const) : ("started" as const),
    text: isKnownOpen ? error : null,
    taskToolId,
    parentSessionId: parent,
    status: endOf(relation),
    registered: true as const,
  };
  return { type: "subagent", sessionId: root, taskId: workerOfSession(run, root)?.taskId ?? null, subagent };
}

function endOf({ status }: SubSession): SubagentEnd {
  if (status === "returned") return "completed";
  return status === "error" ? "failed" : "cancelled";
}
