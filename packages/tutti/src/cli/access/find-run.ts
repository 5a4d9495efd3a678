import type { RunReader } from "./runs.ts";
import { noSuchRun, TuttiError } from "../../schema/error.ts";

/** `idPrefix` is the id or a unique beginning of it, with or without `orch_`. */
export function findRun<R extends { id: string }>(runs: readonly R[], idPrefix: string): R {
  const run = find(runs, idPrefix, "orch_");
  if (run) return run;
  throw noSuchRun(idPrefix);
}

/** `idPrefix` is the id or a unique beginning of it, with or without `item_`. */
export function findItem<R extends { id: string }>(items: readonly R[], idPrefix: string): R {
  const item = find(items, idPrefix, "item_");
  if (item) return item;
  const message = `Inbox item "${idPrefix}" does not exist. List open items with "tutti inbox".`;
  throw new TuttiError("item_not_found", message);
}

function find<R extends { id: string }>(all: readonly R[], idPrefix: string, prefix: string): R | undefined {
  const exact = all.find(({ id }) => id === idPrefix);
  if (exact || idPrefix === "") return exact;
  const matches = all.filter(({ id }) => id.startsWith(idPrefix) || id.startsWith(`${prefix}${idPrefix}`));
  if (matches.length <= 1) return matches[0];
  const ids = matches.map(({ id }) => id);
  const message = `"${idPrefix}" matches several ids: ${ids.join(", ")}. Give more characters.`;
  throw new TuttiError("usage", message, { details: ids });
}

export const findRunId = async (runs: RunReader, idPrefix: string): Promise<string> =>
  findRun(await runs.rows(), idPrefix).id;
