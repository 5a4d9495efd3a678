// The gates, messages and metrics of a team, as `tutti status` prints them.
import { clock } from "./board.ts";
import { gateViews, type GateView } from "../../run/team/gate.ts";
import { teamMetrics } from "../../run/team/team-metrics.ts";
import type { Run } from "../../schema/run.ts";

/** Returns nothing for a run without roles. */
export function teamLines(run: Run, now: number): string[] {
  const metrics = teamMetrics(run, now);
  if (!metrics) return [];
  const { rejectionRate, completionTimeMs, blockerAgeMs } = metrics;
  const rate = `${Math.round(rejectionRate * 100)} % rejected`;
  const blocked = blockerAgeMs === 0 ? "" : `, longest blocker ${clock(blockerAgeMs)}`;
  return [
    ...gateViews(run, now).flatMap(gateLines),
    `messages: ${countStates(run)}`,
    `tasks: ${rate}, completed in ${clock(completionTimeMs)} on average${blocked}`,
  ];
}

function gateLines({ environment, state, commit, approvedBy, reasons, overrides }: GateView): string[] {
  const about =
    state === "open" ? `open for ${commit!.slice(0, 12)}, approved by ${approvedBy}` : `${state}: ${reasons.join(" ")}`;
  const forced = overrides.map(({ by, reason, commit: at }) => `overridden by ${by} for ${at.slice(0, 12)}: ${reason}`);
  return [about, ...forced].map((text) => `gate of ${environment}: ${text}`);
}

/** For example `3 delivered, 12 acted`, in the order in which the states first occur. */
function countStates({ teamMessages = [] }: Run): string {
  const counts = new Map<string, number>();
  for (const { state } of teamMessages) counts.set(state, (counts.get(state) ?? 0) + 1);
  return [...counts].map(([state, count]) => `${count} ${state}`).join(", ") || "none";
}
