import { addItem } from "../inbox/inbox.ts";
import { deepestLevel } from "./natural.ts";
import type { RunEvent } from "../../schema/event.ts";
import { BUDGET_KINDS, type Budget, type BudgetKind } from "../../schema/budget.ts";
import { NO_USAGE, type Usage } from "../../schema/outcome.ts";
import type { Run } from "../../schema/run.ts";
import { sentence } from "../../sentence.ts";

const MINUTE = 60_000;
const UNITS: Record<BudgetKind, string> = {
  usd: sentence("US dollars"),
  tokens: sentence("tokens"),
  minutes: sentence("minutes"),
  turns: sentence("turns"),
  depth: sentence("levels of sub-sessions"),
  descendants: sentence("sessions"),
};

/** `live` is the `Usage` of open turns. */
export function used(run: Run, at: number, live: Usage = NO_USAGE): Record<BudgetKind, number> {
  const since = run.idleSince ?? run.heldSince ?? null;
  const idle = run.idleMs + (since === null ? 0 : at - since);
  return {
    usd: run.usage.usd + live.usd,
    tokens: run.usage.inputTokens + run.usage.outputTokens + live.inputTokens + live.outputTokens,
    minutes: run.startedAt === null ? 0 : Math.max(0, at - run.startedAt - idle) / MINUTE,
    turns: run.turns,
    depth: run.budget.depth === undefined ? 0 : deepestLevel(run),
    descendants: run.sessions,
  };
}

export const hasBudget = ({ budget }: Run): boolean => BUDGET_KINDS.some((kind) => budget[kind] !== undefined);

/** Returns the first exhausted kind. `turns` and `descendants` are exhausted only if the run `wants` one more. */
export function exhaustedBudget(
  run: Run,
  at: number,
  wants: { turn: boolean; session: boolean },
  live?: Usage,
): BudgetKind | null {
  if (!hasBudget(run)) return null;
  const limited = BUDGET_KINDS.filter((kind) => run.budget[kind] !== undefined);
  const spent = used(run, at, live);
  return (
    limited.find((kind) => {
      const limit = run.budget[kind]!;
      // Drivers refuse deeper sub-agents where the agent's protocol can. Those of other agents can only be noticed, so
      // `depth` may exceed its limit.
      if (kind === "depth") return spent.depth > limit;
      if (kind === "turns") return wants.turn && spent.turns >= limit;
      if (kind === "descendants") return wants.session && spent.descendants >= limit;
      return spent[kind] >= limit;
    }) ?? null
  );
}

export function askForMore(run: Run, kind: BudgetKind, at: number, live?: Usage): RunEvent[] {
  const limit = run.budget[kind]!;
  const spent = used(run, at, live)[kind];
  const amount = { used: Math.round(spent * 100) / 100, limit, unit: UNITS[kind] };
  const item = addItem(
    run,
    {
      kind: "budget",
      question: sentence("The run has used {used} of {limit} {unit}. May it use as much again?", amount),
      options: [sentence("use as much again"), sentence("cancel the run")],
      evidence: { kind, used: spent, limit, usage: run.usage },
      risk: "medium",
    },
    at,
  );
  return [
    { type: "orchestrator:budgetReached", data: { id: run.id, kind, used: spent, limit } },
    item,
    {
      type: "orchestrator:paused",
      data: {
        id: run.id,
        previousStatus: run.status,
        previousPhase: run.currentPhase,
        reason: "budget",
        detail: sentence("it has used {used} of {limit} {unit}", amount),
      },
    },
  ];
}

/**
 * Extends an exhausted kind by the template's budget for it, starting from the current usage. `shown` is the usage that
 * the user approved; it includes open turns, which `run` does not.
 */
export function extended(run: Run, kind: BudgetKind, at: number, shown: number): Budget {
  const step = run.template.config.budget[kind] ?? run.budget[kind] ?? 0;
  return { ...run.budget, [kind]: Math.max(run.budget[kind] ?? 0, used(run, at)[kind], shown) + step };
}

/** Returns when `budget.minutes` will be exhausted, or null without that limit and while the clock stands still. */
export function minutesOverAt(run: Run): number | null {
  const { minutes } = run.budget;
  if (minutes === undefined || run.startedAt === null) return null;
  if (run.idleSince !== null || run.heldSince !== undefined) return null;
  return run.startedAt + run.idleMs + minutes * MINUTE;
}
