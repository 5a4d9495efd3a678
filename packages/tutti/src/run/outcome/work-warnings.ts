import type { UnprovenFiles } from "../../schema/outcome.ts";
import type { Run } from "../../schema/run.ts";
import { sentence, type Say } from "../../sentence.ts";

/** A sentence lists at most `MAX_NAMES`. */
const MAX_NAMES = 5;

/** Returns sentences without a period. The claims of the main session are `ofResult`: they are about all tasks. */
export function describeUnproven({ missing, unchanged }: UnprovenFiles, { ofResult } = { ofResult: false }): string[] {
  return [
    ...(missing.length === 0
      ? []
      : [sentence("it reported files that do not exist: {files}", { files: listNames(missing) })]),
    ...(unchanged.length === 0
      ? []
      : [
          sentence(
            ofResult
              ? "it reported files that the run did not change: {files}"
              : "it reported files that it did not change: {files}",
            { files: listNames(unchanged) },
          ),
        ]),
  ];
}

export function listNames(names: readonly string[]): string {
  const shown = names.slice(0, MAX_NAMES).map((name) => JSON.stringify(name.slice(0, 200)));
  return listSome(shown.join(", "), names.length - shown.length);
}

export const listSome = (names: string, more: number): string =>
  more > 0 ? sentence("{names} (and {count} more)", { names, count: more }) : names;

export const workWarnings = (run: Run, say: Say): string[] => [
  ...Object.values(run.workers).flatMap(({ taskId, status, warnings = [] }) =>
    status === "completed" ? warnings.map((warning) => `${taskId}: ${say(warning)}.`) : [],
  ),
  ...(run.unproven ?? []).map((claim) => `main: ${say(claim)}.`),
];
