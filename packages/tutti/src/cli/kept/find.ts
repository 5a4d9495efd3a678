import type { Output } from "../terminal/output.ts";
import { readRun, readSummaries } from "../../main/read-log.ts";
import { findText, type FoundText } from "../../workspace/kept/find-text.ts";
import { isRemovalMark, listKept, type KeptRef } from "../../workspace/kept/kept-refs.ts";
import { withRepositories } from "../../workspace/kept/with-repositories.ts";
import type { Repository } from "../../workspace/repository.ts";

type FoundWork = Pick<KeptRef, "run" | "attempt" | "ref" | "commit"> & FoundText & { task: string };

/** Searches the repositories of all runs and of the current folder. Exits with 1 without a hit. */
export async function find(output: Output, text: string): Promise<number> {
  const { dataDir } = output;
  const rows = readSummaries(dataDir);
  return withRepositories(
    [...rows.map(({ cwd }) => cwd), process.cwd()],
    dataDir,
    async ({ repositories, problems }) => {
      for (const problem of problems) output.warn(problem);
      const bases = new Map<string, string | null>();
      const baseOf = (run: string): string | null => {
        if (!bases.has(run)) bases.set(run, readRun(dataDir, run)?.base ?? null);
        return bases.get(run)!;
      };
      const found: FoundWork[] = [];
      for (const repository of repositories) found.push(...(await findIn(repository, baseOf, text)));
      output.value(found);
      for (const { run, task, attempt, path, line, text: words } of found) {
        const place = path === null ? "" : ` ${path}${line === null ? "" : `:${line}`}`;
        output.result(`${run} ${task} ${attempt}${place}${path === words ? "" : `: ${words}`}`);
      }
      const [first] = found;
      if (first) output.line(`Bring it back with "tutti restore ${first.run} ${first.task} ${first.attempt}".`);
      else output.line(`No kept work contains "${text}".`);
      return first ? 0 : 1;
    },
  );
}

/** Several refs may point to the same commit, so `seen` skips those that were searched. */
async function findIn(
  repository: Repository,
  baseOf: (run: string) => string | null,
  text: string,
): Promise<FoundWork[]> {
  const seen = new Set<string>();
  const found: FoundWork[] = [];
  // `isMain` comes last: the work of a task says more than the result of the main session, which contains it.
  const isMain = ({ name }: KeptRef): boolean => name === "main";
  const all = (await listKept(repository)).filter((each) => !isRemovalMark(each));
  for (const kept of all.toSorted((a, b) => Number(isMain(a)) - Number(isMain(b)))) {
    if (seen.has(kept.commit)) continue;
    seen.add(kept.commit);
    const { run, name: task, attempt, ref, commit } = kept;
    const hits = await findText(repository, isMain(kept) ? { ...kept, subject: "" } : kept, baseOf(run), text);
    found.push(...hits.map((hit) => ({ run, task, attempt, ref, commit, ...hit })));
  }
  return found;
}
