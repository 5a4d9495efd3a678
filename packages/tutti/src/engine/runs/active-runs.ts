import type { Live } from "./run-registry.ts";
import type { ActiveAgents } from "../slots.ts";
import { activeWorkers } from "../../run/lookup.ts";
import { openWork } from "../../run/fold/open-work.ts";
import { providerOf } from "../../run/provider/provider-name.ts";
import { askedMain } from "../../run/provider/provider.ts";
import type { Run } from "../../schema/run.ts";
import { isRunOver } from "../../schema/status.ts";

type Runs = Iterable<Live>;

/** `next` is a state about to be stored; it counts instead of the stored state of its run. */
export function activeAgents(runs: Runs, now: number, next?: Run): ReturnType<ActiveAgents> {
  const active: ReturnType<ActiveAgents> = [];
  for (const { writer, reconciler } of runs) {
    const run = writer.id === next?.id ? next : writer.run;
    if (!reconciler.claimed || isRunOver(run.status)) continue;
    for (const { session, startedAt, delegating } of activeWorkers(run)) {
      // A session that waits for tasks that it delegated (`delegating`) leaves its slot to them.
      if (delegating) continue;
      const provider = providerOf(session.agent, run.providers);
      active.push({ agent: session.agent, provider, since: startedAt ?? now });
    }
  }
  return active;
}

export function askedMains(runs: Runs): string[] {
  return [...runs].flatMap(({ writer: { run }, reconciler }) => {
    const agent = reconciler.claimed ? askedMain(run) : null;
    return agent === null ? [] : [providerOf(agent, run.providers)];
  });
}

/** Returns null if `provider` refuses no turn. A refusal that one run received holds for all runs. */
export function refusedUntil(runs: Runs, provider: string, now: number): number | null {
  let until: number | null = null;
  for (const { writer, reconciler } of runs) {
    const { status } = writer.run;
    if (!reconciler.claimed || isRunOver(status)) continue;
    const refusal = Object.hasOwn(writer.run.refusals, provider) ? writer.run.refusals[provider]! : null;
    // A paused run sends no turns, so no answer clears its entry in `refusals`.
    const isStale = status === "paused" && (refusal?.until ?? 0) <= now;
    if (refusal && !isStale && (until === null || refusal.until > until)) until = refusal.until;
  }
  return until;
}

/**
 * Whether the run may wait for a slot, a main session or a provider's answer that another run frees. Most runs do not,
 * so the cost of a freed slot does not grow with the number of runs.
 */
export function mayWaitForOthers(run: Run): boolean {
  const { status, owed, main, refusals } = run;
  if (isRunOver(status) || status === "paused") return false;
  const wantsMain = owed !== null && (main === null || main.state === "over");
  const mayStart = status === "spawning" || status === "running";
  return wantsMain || (mayStart && openWork(run).ready.some(() => true)) || Object.keys(refusals).length > 0;
}

/** Whether the run counts in `activeAgents`, `askedMains` or `refusedUntil`. */
export function usesSlots(run: Run): boolean {
  if (isRunOver(run.status)) return false;
  return openWork(run).active.length > 0 || Object.keys(run.refusals).length > 0 || askedMain(run) !== null;
}
