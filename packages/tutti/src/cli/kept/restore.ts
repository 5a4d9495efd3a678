import { resolve } from "node:path";
import { findRun } from "../access/find-run.ts";
import type { Output } from "../terminal/output.ts";
import { readRun, readSummaries } from "../../main/read-log.ts";
import { refuseNewPrograms } from "../../run/ended-result.ts";
import { TuttiError } from "../../schema/error.ts";
import { pathName } from "../../schema/ids.ts";
import { ChangedPrograms } from "../../workspace/guard/changed-programs.ts";
import { withEarlier } from "../../workspace/guard/pinned-settings.ts";
import { listKept, type KeptRef } from "../../workspace/kept/kept-refs.ts";
import { restoreFiles } from "../../workspace/kept/restore-files.ts";
import { withRepositories } from "../../workspace/kept/with-repositories.ts";

/** Also restores the work of a removed run if the current folder is in its repository. */
export async function restore(
  output: Output,
  idPrefix: string,
  task: string,
  attempt: string | undefined,
  flags: { into?: string },
): Promise<number> {
  const rows = readSummaries(output.dataDir);
  const { cwd } = rows.find(({ id }) => matches(id, idPrefix)) ?? { cwd: process.cwd() };
  return withRepositories([cwd], output.dataDir, async ({ repositories: [repository] }) => {
    const kept = repository ? await listKept(repository) : [];
    // A removed run has no row, but the refs in `kept` name it.
    const { id: run } = findRun([...rows, ...kept.map((each) => ({ id: each.run }))].filter(isFirst), idPrefix);
    if (!repository)
      throw new TuttiError(
        "folder_not_found",
        `The folder "${cwd}" of run "${run}" is no repository any more. Restore it first.`,
      );
    const state = readRun(output.dataDir, run);
    if (state) refuseNewPrograms(state);
    const found = selectAttempt(
      kept.filter((each) => each.run === pathName(run) && each.name === pathName(task)),
      { run, task, attempt },
    );
    const folder = resolve(flags.into ?? `${found.run}-${found.name}-${found.attempt}`);
    const changed = new ChangedPrograms(output.dataDir).of(repository);
    await restoreFiles(await withEarlier(repository, changed), found.commit, folder);
    const { ref, commit } = found;
    output.value({ run, task, attempt: found.attempt, ref, commit, folder });
    output.result(`The files of ${task}, attempt ${found.attempt}, are in ${folder}`);
    return 0;
  });
}

const matches = (id: string, idPrefix: string): boolean => id.startsWith(idPrefix) || id.startsWith(`orch_${idPrefix}`);

const isFirst = ({ id }: { id: string }, i: number, all: readonly { id: string }[]): boolean =>
  all.findIndex((each) => each.id === id) === i;

/** Without `attempt`, selects the newest one, and its snapshot before other refs of it. */
function selectAttempt(
  kept: readonly KeptRef[],
  { run, task, attempt }: { run: string; task: string; attempt: string | undefined },
): KeptRef {
  const number = (each: KeptRef): number => Number.parseInt(each.attempt, 10) || 0;
  const sorted = kept.toSorted((a, b) => number(b) - number(a) || a.attempt.length - b.attempt.length);
  const found = attempt === undefined ? sorted[0] : sorted.find((each) => each.attempt === attempt);
  if (found) return found;
  const what = attempt === undefined ? "has no kept work" : `has no kept attempt "${attempt}"`;
  const names = sorted.map((each) => each.attempt);
  const advice = names.length === 0 ? `Show the run with "tutti status ${run}".` : `Kept are: ${names.join(", ")}.`;
  throw new TuttiError("task_not_found", `Task "${task}" of run "${run}" ${what}. ${advice}`);
}
