// `tutti gc`: frees the refs of kept work that `reasonToFree` allows. In a repository of the user, git removes their objects
// with its own next gc; in those of folders without git, `collectGarbage` does.
import { join, resolve } from "node:path";
import type { Output } from "../terminal/output.ts";
import { hasLog, readRun, readSummaries } from "../../main/read-log.ts";
import { readRetention } from "../../main/settings.ts";
import { plural } from "../../run/describe-event.ts";
import { outdatedRuns } from "../../run/fold/outdated-runs.ts";
import { commitsInUse, reasonToFree } from "../../run/reason-to-free.ts";
import { asTuttiError } from "../../schema/error.ts";
import { runBranch } from "../../schema/ids.ts";
import { isRunOver } from "../../schema/status.ts";
import { COPIES, copyOf, listCopies } from "../../workspace/copied-folder.ts";
import { collectGarbage, isUnused, removeCopy, sizeOf } from "../../workspace/kept/collect-garbage.ts";
import { findHolder } from "../../workspace/kept/find-holder.ts";
import { deleteKept, isRemovalMark, listKept, type KeptRef } from "../../workspace/kept/kept-refs.ts";
import { measureRefs } from "../../workspace/kept/measure-refs.ts";
import { withRepositories } from "../../workspace/kept/with-repositories.ts";
import { readRef } from "../../workspace/refs.ts";
import type { Repository } from "../../workspace/repository.ts";

type Rows = ReturnType<typeof readSummaries>;

interface FreedEntry {
  ref: string;
  bytes: number;
  /** Null for work that stays, which only `--all` lists. */
  reason: string | null;
}

/** The repository of a folder without git, from which every run is gone. */
interface FreedCopy {
  copy: string;
  bytes: number;
  reason: string;
}

export async function gc(output: Output, flags: { dryRun?: boolean; all?: boolean }): Promise<number> {
  const { dataDir } = output;
  const rows = readSummaries(dataDir);
  const retention = readRetention(dataDir) ?? {};
  const isWaiting = (id: string): boolean => rows.some((row) => row.id === id && row.inbox.length > 0);
  const outdated = new Set(outdatedRuns(rows, isWaiting, retention, Date.now()));
  const open = rows.filter(({ status }) => !isRunOver(status)).flatMap(({ id }) => readRun(dataDir, id) ?? []);
  const inUse = new Set(open.flatMap(commitsInUse));
  return withRepositories(
    [...rows.map(({ cwd }) => cwd), process.cwd()],
    dataDir,
    async ({ repositories, problems }) => {
      for (const problem of problems) output.warn(problem);
      const listed: (FreedEntry | FreedCopy)[] = [];
      const notes: string[] = [];
      for (const repository of [...repositories, ...(await otherCopies(dataDir, repositories))]) {
        const kept = await listKept(repository);
        const free = await selectRefs(repository, kept, rows, outdated, inUse);
        const sizes = await measureRefs(repository, free);
        const entries = free.map(({ ref, reason }, i) => ({ ref, bytes: sizes[i]!, reason }));
        const names = new Set(entries.map(({ ref }) => ref));
        const staying = flags.all ? kept.filter(({ ref }) => !names.has(ref)) : [];
        const stayingSizes = await measureRefs(repository, staying);
        listed.push(...entries, ...staying.map(({ ref }, i) => ({ ref, bytes: stayingSizes[i]!, reason: null })));
        if (!flags.dryRun) await deleteKept(repository, free);
        if (repository.isCopy) {
          const { removed, note } = await freeCopy(repository, names, rows, output, flags.dryRun ?? false);
          listed.push(...removed);
          notes.push(...note);
        } else if (entries.length > 0 && !flags.dryRun) {
          notes.push(`Git deletes the objects of freed refs with its own next gc in ${repository.root}.`);
        }
      }
      output.value(listed);
      for (const each of listed)
        output.result(`${"ref" in each ? each.ref : each.copy}  ${each.bytes} bytes  ${each.reason ?? "stays"}`);
      const freed = listed.filter(({ reason }) => reason !== null);
      const total = freed.reduce((sum, { bytes }) => sum + bytes, 0);
      const refs = plural(freed.filter((each) => "ref" in each).length, "ref");
      output.line(
        flags.dryRun ? `${refs} with ${total} bytes would be freed` : `Freed ${refs}, which held ${total} bytes`,
      );
      for (const note of notes) output.line(note);
      return 0;
    },
  );
}

/** Copies that `repositories` lacks, because their folder or all their runs are gone. */
async function otherCopies(dataDir: string, repositories: readonly Repository[]): Promise<Repository[]> {
  const known = new Set(repositories.map(({ commonDir }) => commonDir));
  return (await listCopies(join(resolve(dataDir), COPIES))).filter(({ commonDir }) => !known.has(commonDir));
}

/** Unlike the repositories of the user, copies are collected here: nothing else would ever do it. */
async function freeCopy(
  copy: Repository,
  freed: ReadonlySet<string>,
  rows: Rows,
  output: Output,
  isDryRun: boolean,
): Promise<{ removed: FreedCopy[]; note: string[] }> {
  const { commonDir } = copy;
  const { dataDir } = output;
  const now = Date.now();
  // Without a log in this data folder, its runs are unknown.
  const isKnown = hasLog(dataDir);
  // `rows` may be older than a run that has started meanwhile.
  const own = await runsIn(copy, dataDir, isDryRun ? rows : readSummaries(dataDir));
  if (isKnown && own.length === 0 && (await isUnused(copy, freed, now))) {
    const bytes = isDryRun ? await sizeOf(commonDir) : await removeCopy(copy);
    return { removed: [{ copy: commonDir, bytes, reason: "no run uses it" }], note: [] };
  }
  if (isDryRun) return { removed: [], note: [] };
  const isIdle = isKnown && own.every(({ status, released }) => isRunOver(status) && released);
  const bytes = await collectGarbage(copy, { isIdle, now }).catch((error: unknown) => {
    output.warn(asTuttiError(error).message);
    return 0;
  });
  return { removed: [], note: bytes === 0 ? [] : [`${bytes} bytes were deleted from ${commonDir}.`] };
}

async function runsIn({ commonDir }: Repository, dataDir: string, rows: Rows): Promise<Rows> {
  const copies = await Promise.all(rows.map(({ cwd }) => copyOf(join(resolve(dataDir), COPIES), cwd)));
  return rows.filter((_, i) => copies[i] === commonDir);
}

async function selectRefs(
  repository: Repository,
  kept: readonly KeptRef[],
  rows: Rows,
  outdated: ReadonlySet<string>,
  inUse: ReadonlySet<string>,
): Promise<(KeptRef & { reason: string })[]> {
  const removed = new Set(kept.filter(isRemovalMark).map(({ run }) => run));
  const selected: (KeptRef & { reason: string })[] = [];
  const branches = new Map<string, boolean>();
  for (const each of kept) {
    const row = rows.find(({ id }) => id === each.run);
    const run = row?.status ?? (removed.has(each.run) ? "removed" : null);
    if (run === null) continue;
    if (!branches.has(each.run))
      branches.set(each.run, (await readRef(repository, `refs/heads/${runBranch(each.run)}`)) !== null);
    const reason = reasonToFree({
      run,
      holder: await findHolder(repository, each.commit),
      hasBranch: branches.get(each.run)!,
      isOutdated: outdated.has(each.run),
      isInUse: inUse.has(each.commit),
    });
    if (reason !== null) selected.push({ ...each, reason });
  }
  return selected;
}
