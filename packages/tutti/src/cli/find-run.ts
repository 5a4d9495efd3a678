// From what a person types to the run that is meant.
import type { Engine } from "./local-engine.ts";
import { TuttiError } from "../schema/error.ts";

/** The run of this id, or the only one whose id begins so; `orch_` may be left out. */
export function findRun<R extends { id: string }>(runs: readonly R[], typed: string): R {
  const exact = runs.find(({ id }) => id === typed);
  if (exact) return exact;
  const begins = typed === "" ? [] : runs.filter(({ id }) => id.startsWith(typed) || id.startsWith(`orch_${typed}`));
  if (begins.length === 1) return begins[0]!;
  if (begins.length === 0) throw new TuttiError("run_not_found", `there is no run ${typed}`);
  const ids = begins.map(({ id }) => id);
  throw new TuttiError("usage", `${typed} could be any of ${ids.join(", ")}`, { details: ids });
}

export const findRunId = (engine: Engine, typed: string): string => findRun(engine.summaries(), typed).id;
