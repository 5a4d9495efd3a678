// What all runs at work say together: which agents are busy, and which providers refuse.
import type { Live } from "./kept-runs.ts";
import type { ActiveAgents } from "./slots.ts";
import { activeWorkers } from "../run/lookup.ts";
import { openWork } from "../run/open-work.ts";
import { providerOf } from "../run/provider-name.ts";
import { askedMain } from "../run/provider.ts";
import type { Run } from "../schema/run.ts";
import { isRunOver } from "../schema/status.ts";

type Runs = Iterable<Live>;

/** A state that is about to be stored may be given, to count instead of the stored one. */
export function activeAgents(runs: Runs, now: number, instead?: Run): ReturnType<ActiveAgents> {
  const active: ReturnType<ActiveAgents> = [];
  for (const { writer, reconciler } of runs) {
    const run = writer.id === instead?.id ? instead : writer.run;
    if (!reconciler.claimed || isRunOver(run.status)) continue;
    for (const { session, startedAt } of activeWorkers(run)) {
      const provider = providerOf(session.agent, run.providers);
      active.push({ agent: session.agent, provider, since: startedAt ?? now });
    }
  }
  return active;
}

/** Main sessions that are being asked something, by their providers. */
export function askedMains(runs: Runs): string[] {
  return [...runs].flatMap(({ writer: { run }, reconciler }) => {
    const agent = reconciler.claimed ? askedMain(run) : null;
    return agent === null ? [] : [providerOf(agent, run.providers)];
  });
}

/** What any run at work has heard of a provider holds for all. */
export function refusedUntil(runs: Runs, provider: string, now: number): number | null {
  let until: number | null = null;
  for (const { writer, reconciler } of runs) {
    const { status } = writer.run;
    if (!reconciler.claimed || isRunOver(status)) continue;
    const refusal = Object.hasOwn(writer.run.refusals, provider) ? writer.run.refusals[provider]! : null;
    // One that is paused asks nobody, so nobody hears from it when the provider answers again.
    const isStale = status === "paused" && (refusal?.until ?? 0) <= now;
    if (refusal && !isStale && (until === null || refusal.until > until)) until = refusal.until;
  }
  return until;
}

/**
 * Whether the run may wait for what another gives up: a place for a worker or a main session, or a provider's answer. Most
 * runs do not, and what one does must not cost more the more there are.
 */
export function mayWaitForOthers(run: Run): boolean {
  const { status, owed, main, refusals } = run;
  if (isRunOver(status) || status === "paused") return false;
  const wantsMain = owed !== null && (main === null || main.state === "over");
  const mayStart = status === "spawning" || status === "running";
  return wantsMain || (mayStart && openWork(run).ready.some(() => true)) || Object.keys(refusals).length > 0;
}

/** Whether the run counts in any of the sums above: somebody of it is at work, is asked, or was refused. */
export function counts(run: Run): boolean {
  if (isRunOver(run.status)) return false;
  return openWork(run).active.length > 0 || Object.keys(run.refusals).length > 0 || askedMain(run) !== null;
}
