import type { UnprovenFiles } from "../schema/outcome.ts";
import type { Run } from "../schema/run.ts";

/** A sentence lists at most `MAX_NAMES`. */
const MAX_NAMES = 5;

/** Returns sentences without a period. The claims of the main session are `ofResult`: they are about all tasks. */
export function describeUnproven({ missing, unchanged }: UnprovenFiles, { ofResult } = { ofResult: false }): string[] {
  return [
    ...list("it reported files that do not exist", missing),
    ...list(`it reported files that ${ofResult ? "the run" : "it"} did not change`, unchanged),
  ];
}

const list = (claim: string, names: readonly string[]): string[] =>
  names.length === 0 ? [] : [`${claim}: ${listNames(names)}`];

export function listNames(names: readonly string[]): string {
  const shown = names.slice(0, MAX_NAMES).map((name) => JSON.stringify(name.slice(0, 200)));
  return [...shown, ...(names.length > MAX_NAMES ? [`${names.length - MAX_NAMES} more`] : [])].join(", ");
}

export const workWarnings = (run: Run): string[] => [
  ...Object.values(run.workers).flatMap(({ taskId, status, warnings = [] }) =>
    status === "completed" ? warnings.map((warning) => `${taskId}: ${warning}.`) : [],
  ),
  ...(run.unproven ?? []).map((claim) => `main: ${claim}.`),
];
