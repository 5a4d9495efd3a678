// A log folded again, event by event: what it says, and whether anything about it is not as it should be.
import { fingerprint } from "./stored-state.ts";
import { apply } from "../run/apply.ts";
import { RUN_MOVES } from "../run/transitions.ts";
import { TuttiError } from "../schema/error.ts";
import { EVENTS, type StoredEvent } from "../schema/event.ts";
import type { Run } from "../schema/run.ts";

export interface Replay {
  steps: { event: StoredEvent; run: Run }[];
  problems: string[];
}

/** `known` is the state that the engine would work with; the log must fold to the same. */
export function replay(events: readonly StoredEvent[], known: Run | null, until = Number.POSITIVE_INFINITY): Replay {
  if (Number.isFinite(until) && until > events.length) {
    throw new TuttiError("event_not_found", `run ${known?.id} has ${events.length} events, not ${until}`);
  }
  const steps: Replay["steps"] = [];
  const problems: string[] = [];
  let run: Run | null = null;
  for (const [i, event] of events.entries()) {
    problems.push(...problemsOf(event, i + 1));
    const before: Run | null = run;
    run = apply(run, event);
    if (before && before.status !== run.status && !RUN_MOVES[before.status].includes(run.status)) {
      problems.push(`event ${event.runSeq}: from ${before.status} to ${run.status}`);
    }
    if (event.runSeq <= until) steps.push({ event, run });
  }
  if (fingerprint(run) !== fingerprint(known)) problems.push("the log folds to another state than the one in use");
  return { steps, problems };
}

function problemsOf({ runSeq, type, data }: StoredEvent, expected: number): string[] {
  const place = runSeq === expected ? [] : [`event ${expected} is missing: ${runSeq} comes instead`];
  const form = EVENTS[type]?.safeParse(data);
  if (!form) return [...place, `event ${runSeq}: there is no ${type}`];
  return form.success ? place : [...place, `event ${runSeq}: ${type} is not as expected`];
}
