// From what a person types to the run, or the item of the inbox, that is meant.
import type { Look } from "./runs.ts";
import { TuttiError } from "../schema/error.ts";

/** The run of this id, or the only one whose id begins so; `orch_` may be left out. */
export const findRun = <R extends { id: string }>(runs: readonly R[], typed: string): R =>
  find(runs, typed, "orch_", () => new TuttiError("run_not_found", `there is no run ${typed}`));

/** The same for what waits for a person; `item_` may be left out. */
export const findItem = <R extends { id: string }>(items: readonly R[], typed: string): R =>
  find(items, typed, "item_", () => new TuttiError("item_not_found", `nothing waits under ${typed}`));

function find<R extends { id: string }>(all: readonly R[], typed: string, prefix: string, none: () => TuttiError): R {
  const exact = all.find(({ id }) => id === typed);
  if (exact) return exact;
  const begins = typed === "" ? [] : all.filter(({ id }) => id.startsWith(typed) || id.startsWith(`${prefix}${typed}`));
  if (begins.length === 1) return begins[0]!;
  if (begins.length === 0) throw none();
  const ids = begins.map(({ id }) => id);
  throw new TuttiError("usage", `${typed} could be any of ${ids.join(", ")}`, { details: ids });
}

export const findRunId = async (runs: Look, typed: string): Promise<string> => findRun(await runs.rows(), typed).id;
