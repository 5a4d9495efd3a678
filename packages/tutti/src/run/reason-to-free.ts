// `reasonToFree` is the policy of `tutti gc`: which refs of kept work may go.
import type { Run } from "../schema/run.ts";
import { isRunOver, type RunStatus } from "../schema/status.ts";

interface KeptRefFacts {
  /** Status of the run in this data folder, `removed` after its removal, null for a run of another data folder. */
  run: RunStatus | "removed" | null;
  /** A branch of the user that contains the work, or null. */
  holder: string | null;
  hasBranch: boolean;
  /** Whether no rule of `retention` keeps the run. */
  isOutdated: boolean;
  /** Whether a run that has not ended uses the commit (`commitsInUse`). */
  isInUse: boolean;
}

/** Returns null for a ref that must stay. */
export function reasonToFree({ run, holder, hasBranch, isOutdated, isInUse }: KeptRefFacts): string | null {
  if (isInUse || run === null) return null;
  if (run !== "removed" && !isRunOver(run)) return null;
  if (holder !== null) return `contained in ${holder}`;
  if (run === "removed") return "its run was removed";
  if (!hasBranch) return "its result was dropped";
  return isOutdated ? "its run is older than the retention allows" : null;
}

/** The commits that a run needs to continue. A fork uses commits that only the refs of its source hold. */
export function commitsInUse({ base, head, workers }: Run): string[] {
  const used = Object.values(workers).flatMap(({ commit, session }) => [commit, session.start]);
  return [base, head, ...used].filter((commit) => commit !== null && commit !== undefined);
}
