import { TuttiError } from "../schema/error.ts";
import type { Run } from "../schema/run.ts";
import { isRunOver } from "../schema/status.ts";

/** Returns the commit of the run's result. Throws if the run has not ended or has none. */
export function endedResult({ id, status, head }: Run): string {
  if (!isRunOver(status)) {
    const advice = `Wait until it has ended, or cancel it with "tutti cancel ${id}".`;
    throw new TuttiError("wrong_state", `Run "${id}" has not ended. ${advice}`);
  }
  if (head !== null) return head;
  throw new TuttiError("wrong_state", `Run "${id}" has no result, because it ended before it started any work.`);
}
