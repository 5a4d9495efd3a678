import { translate } from "../text/language.ts";
import { STALLED, WAITING, type StatusStyle } from "../run/run-look.ts";
import type { ListedRun, WaitingItem } from "../../../tutti/src/client/run-summary.ts";
import { isRunOver } from "../../../tutti/src/schema/status.ts";
import type { RunFilter } from "../shell/page-route.ts";

interface OrderedRuns {
  needsYou: ListedRun[];
  others: ListedRun[];
  /** The number of waiting items by run id. Plans count in `needsYou` only. */
  questions: ReadonlyMap<string, number>;
}

/**
 * Runs that wait for the user come first, also for failed tasks. Both parts are sorted by `createdAt`, the newest
 * first.
 */
export function orderRuns(runs: readonly ListedRun[], inbox: readonly WaitingItem[]): OrderedRuns {
  const questions = new Map<string, number>();
  for (const { run, kind } of inbox) if (kind !== "plan") questions.set(run, (questions.get(run) ?? 0) + 1);
  const newest = [...runs].sort((a, b) => Date.parse(b.createdAt) - Date.parse(a.createdAt));
  const waits = ({ id, status }: ListedRun) => status === "confirming" || questions.has(id);
  return { needsYou: newest.filter(waits), others: newest.filter((run) => !waits(run)), questions };
}

type Matches = (run: ListedRun, waits: boolean, look: StatusStyle) => boolean;

/** By the word in the address. */
export const RUN_GROUPS: Readonly<Record<string, { name: string; matches: Matches }>> = {
  you: { name: translate("Needs you"), matches: ({ status }, waits) => waits || status === "confirming" },
  active: {
    name: translate("Active"),
    matches: ({ status }) => !isRunOver(status) && status !== "paused" && status !== "created",
  },
  running: { name: translate("Running"), matches: (_run, _waits, { tone }) => tone === "running" },
  waiting: { name: translate("Waiting"), matches: (_run, _waits, look) => look === WAITING },
  stalled: { name: translate("Stalled"), matches: (_run, _waits, look) => look === STALLED },
  paused: { name: translate("Paused"), matches: ({ status }) => status === "paused" },
  success: { name: translate("Success"), matches: ({ outcome }) => outcome === "success" },
  degraded: { name: translate("Degraded"), matches: ({ outcome }) => outcome === "degraded" },
  failed: { name: translate("Failed"), matches: ({ outcome, status }) => outcome === "failed" || status === "error" },
  cancelled: { name: translate("Cancelled"), matches: ({ status }) => status === "cancelled" },
};

/** `lookOf` is the state that the list shows. Each word of `text` must occur in the request, the folder, the template, the agent or the id. */
export function filterRuns(
  runs: readonly ListedRun[],
  { state, text }: RunFilter,
  questions: ReadonlyMap<string, number>,
  lookOf: (run: ListedRun) => StatusStyle,
): ListedRun[] {
  const group = Object.hasOwn(RUN_GROUPS, state) ? RUN_GROUPS[state] : undefined;
  const words = text.toLowerCase().split(/\s+/).filter(Boolean);
  return runs.filter((run) => {
    if (group && !group.matches(run, questions.has(run.id), lookOf(run))) return false;
    const searched = [run.id, run.userRequest, run.cwd, run.templateId, run.agent].join(" ").toLowerCase();
    return words.every((word) => searched.includes(word));
  });
}
