import { fingerprint } from "./stored-state.ts";
import { apply } from "../../run/apply.ts";
import { RUN_MOVES } from "../../run/transitions.ts";
import { TuttiError } from "../../schema/error.ts";
import { EVENTS, type StoredEvent } from "../../schema/event.ts";
import type { Run } from "../../schema/run.ts";

export interface Replay {
  steps: { event: StoredEvent; run: Run }[];
  problems: string[];
}

/**
 * `problems` lists events that are missing, unknown or invalid. `known` is the engine's state; the log must fold to the
 * same state.
 */
export function replay(events: readonly StoredEvent[], known: Run | null, until = Number.POSITIVE_INFINITY): Replay {
  if (Number.isFinite(until) && until > events.length) {
    throw new TuttiError(
      "event_not_found",
      `Run "${known?.id}" has no event ${until}. Use a number from 1 to ${events.length}.`,
    );
  }
  const steps: Replay["steps"] = [];
  const problems: string[] = [];
  let run: Run | null = null;
  for (const [i, event] of events.entries()) {
    problems.push(...problemsOf(event, i + 1));
    const previous: Run | null = run;
    run = apply(run, event);
    if (previous && previous.status !== run.status && !RUN_MOVES[previous.status].includes(run.status)) {
      problems.push(`Event ${event.runSeq}: the status may not change from "${previous.status}" to "${run.status}".`);
    }
    if (event.runSeq <= until) steps.push({ event, run });
  }
  if (fingerprint(run) !== fingerprint(known))
    problems.push("The log folds to a different state than the engine's state.");
  return { steps, problems };
}

function problemsOf({ runSeq, type, data }: StoredEvent, expected: number): string[] {
  const gaps = runSeq === expected ? [] : [`Event ${expected} is missing: event ${runSeq} is in its place.`];
  const form = EVENTS[type]?.safeParse(data);
  if (!form) return [...gaps, `Event ${runSeq}: the type "${type}" is unknown.`];
  return form.success ? gaps : [...gaps, `Event ${runSeq}: the data of "${type}" is invalid.`];
}
