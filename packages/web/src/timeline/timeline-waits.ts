import { translate } from "../text/language.ts";
import { costOf, lookOf } from "../inbox/item-look.ts";
import { duration } from "../text/format.ts";
import type { RunTimeline } from "../../../tutti/src/schema/api/run-values.ts";

type TimelineSession = RunTimeline["sessions"][number];
type Wait = RunTimeline["waits"][number];

interface ShownWait {
  key: string;
  word: string;
  startedAt: string;
  endedAt: string | null;
}

/** An item without a session or task holds up the run, so its wait is on the row of the main session. */
export function waitsOf({ waits, sessions }: RunTimeline, of: TimelineSession): ShownWait[] {
  const holders = ({ sessionId, taskId, startedAt }: Wait) =>
    sessions.findLast((each) =>
      sessionId === null ? each.taskId === taskId && each.startedAt <= startedAt : each.sessionId === sessionId,
    );
  return [
    ...waits
      .filter((wait) => costOf(wait) > 1 && holders(wait)?.sessionId === of.sessionId)
      .map((wait) => ({ ...wait, key: wait.itemId, word: wordOf(wait) })),
    ...of.refusals.map((refusal) => ({ ...refusal, key: refusal.startedAt, word: refusalWord(refusal) })),
  ];
}

const timeOf = ({ startedAt, endedAt }: { startedAt: string; endedAt: string }): string =>
  duration(Date.parse(endedAt) - Date.parse(startedAt));

const refusalWord = ({ startedAt, endedAt }: TimelineSession["refusals"][number]): string =>
  endedAt === null
    ? translate("Waits for the provider")
    : translate("Waited {time} for the provider", { time: timeOf({ startedAt, endedAt }) });

function wordOf({ kind, startedAt, endedAt }: Wait): string {
  if (endedAt === null) return translate("Waits for you");
  return translate("Waited {time} for you: {kind}", {
    time: timeOf({ startedAt, endedAt }),
    kind: lookOf({ kind }).label,
  });
}
