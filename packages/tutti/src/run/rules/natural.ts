// Natural mode: one session carries out the whole request with sub-agents of its own, without a plan and workers. Its
// answer may be plain words, and it counts only when all its sub-sessions have ended.
import { valuesOf } from "../fold/shared-record.ts";
import type { Run, Subagent } from "../../schema/run.ts";

export const isNatural = ({ template: { config, phases } }: Run): boolean =>
  config.useSubSessions && !phases.taskPlanning.enabled && !phases.workerExecution.enabled;

/** The sub-sessions that the census of a run counts if it `isNatural`. Those of a lost session were lost with it. */
export function countedSubSessions(run: Run): [id: string, subagent: Subagent][] {
  if (!isNatural(run) || !run.subagents) return [];
  const isCounted = ({ sessionId, registered }: Subagent): boolean =>
    registered === true || sessionId === run.main?.sessionId;
  return Object.entries(run.subagents).filter(([, subagent]) => isCounted(subagent));
}

/** The answer of the main session does not count while one of `countedSubSessions` is open. */
export const awaitsSubSessions = (run: Run): boolean =>
  countedSubSessions(run).some(([, { endedAt }]) => endedAt === null);

/**
 * Only after the main session has answered too early (`waitedSince`). After a turn that failed it may continue beside
 * its sub-sessions.
 */
export const isWaitingForSubSessions = (run: Run): boolean =>
  run.owed?.waitedSince !== undefined && awaitsSubSessions(run);

/** Returns 1 for a sub-session of a session of the run, and 0 without `subagents`. */
export function deepestLevel({ subagents = {} }: Run): number {
  let deepest = 0;
  for (const subagent of valuesOf(subagents)) {
    const seen = new Set<Subagent>();
    for (
      let each: Subagent | undefined = subagent;
      each && !seen.has(each);
      each = subagents[each.parentSessionId ?? ""]
    )
      seen.add(each);
    deepest = Math.max(deepest, seen.size);
  }
  return deepest;
}

const FAILED = /^\W*failed:\s*/i;
const PARTLY_DONE = /^\W*partly done:\s*/i;

/** Reads the first words of `summary`, as the templates ask for them. */
export function statedEnd(summary: string): { status: "failed" | "partial" | "success"; reason: string } {
  const text = summary.trim();
  if (FAILED.test(text)) return { status: "failed", reason: text.replace(FAILED, "") };
  if (PARTLY_DONE.test(text)) return { status: "partial", reason: text.replace(PARTLY_DONE, "") };
  return { status: "success", reason: "" };
}
