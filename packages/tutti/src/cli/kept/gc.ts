// `tutti gc`: frees the refs of kept work that `reasonToFree` allows. Git removes their objects with its own next gc.
import type { Output } from "../terminal/output.ts";
import { readRun, readSummaries } from "../../main/read-log.ts";
import { readRetention } from "../../main/settings.ts";
import { plural } from "../../run/describe-event.ts";
import { outdatedRuns } from "../../run/fold/outdated-runs.ts";
import { commitsInUse, reasonToFree } from "../../run/reason-to-free.ts";
import { runBranch } from "../../schema/ids.ts";
import { isRunOver } from "../../schema/status.ts";
import { findHolder } from "../../workspace/kept/find-holder.ts";
import { deleteKept, isRemovalMark, listKept, type KeptRef } from "../../workspace/kept/kept-refs.ts";
import { measureRefs } from "../../workspace/kept/measure-refs.ts";
import { withRepositories } from "../../workspace/kept/with-repositories.ts";
import { readRef } from "../../workspace/refs.ts";
import type { Repository } from "../../workspace/repository.ts";

type Rows = ReturnType<typeof readSummaries>;

export async function gc(output: Output, flags: { dryRun?: boolean }): Promise<number> {
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
      const freed: { ref: string; bytes: number; reason: string }[] = [];
      for (const repository of repositories) {
        const free = await selectRefs(repository, rows, outdated, inUse);
        const sizes = await measureRefs(repository, free);
        if (!flags.dryRun) await deleteKept(repository, free);
        freed.push(...free.map(({ ref, reason }, i) => ({ ref, bytes: sizes[i]!, reason })));
      }
      output.value(freed);
      for (const { ref, bytes, reason } of freed) output.result(`${ref}  ${bytes} bytes  ${reason}`);
      const total = freed.reduce((sum, { bytes }) => sum + bytes, 0);
      const verb = flags.dryRun ? "would be freed" : "freed";
      output.line(`${plural(freed.length, "ref")} with ${total} bytes ${verb}`);
      return 0;
    },
  );
}

async function selectRefs(
  repository: Repository,
  rows: Rows,
  outdated: ReadonlySet<string>,
  inUse: ReadonlySet<string>,
): Promise<(KeptRef & { reason: string })[]> {
  const kept = await listKept(repository);
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
