import type { RunReader } from "./runs.ts";
import { TuttiError } from "../../schema/error.ts";

/** Finds a run by its id or by a unique prefix of it, with or without `orch_`. */
export const findRun = <R extends { id: string }>(runs: readonly R[], idPrefix: string): R =>
  find(
    runs,
    idPrefix,
    "orch_",
    () => new TuttiError("run_not_found", `Run "${idPrefix}" does not exist. List runs with "tutti list".`),
  );

/** Finds an inbox item by its id or by a unique prefix of it, with or without `item_`. */
export const findItem = <R extends { id: string }>(items: readonly R[], idPrefix: string): R =>
  find(
    items,
    idPrefix,
    "item_",
    () =>
      new TuttiError("item_not_found", `Inbox item "${idPrefix}" does not exist. List open items with "tutti inbox".`),
  );

function find<R extends { id: string }>(
  all: readonly R[],
  idPrefix: string,
  prefix: string,
  none: () => TuttiError,
): R {
  const exact = all.find(({ id }) => id === idPrefix);
  if (exact) return exact;
  const matches =
    idPrefix === "" ? [] : all.filter(({ id }) => id.startsWith(idPrefix) || id.startsWith(`${prefix}${idPrefix}`));
  if (matches.length === 1) return matches[0]!;
  if (matches.length === 0) throw none();
  const ids = matches.map(({ id }) => id);
  throw new TuttiError("usage", `"${idPrefix}" matches several ids: ${ids.join(", ")}. Give more characters.`, {
    details: ids,
  });
}

export const findRunId = async (runs: RunReader, idPrefix: string): Promise<string> =>
  findRun(await runs.rows(), idPrefix).id;
