import { onRepository, type Repository } from "../repository.ts";
import type { KeptRef } from "./kept-refs.ts";

/**
 * Returns the bytes on disk of the objects that only `refs` hold. Objects that several of them share count for the first,
 * so that the sizes add up.
 */
export async function measureRefs(repository: Repository, refs: readonly KeptRef[]): Promise<number[]> {
  const { stdout } = await onRepository(repository, "list refs", ["for-each-ref", "--format=%(objectname) %(refname)"]);
  const freed = new Set(refs.map(({ ref }) => ref));
  const lines = stdout.split("\n").filter((line) => line !== "");
  const staying = lines.filter((line) => !freed.has(line.slice(line.indexOf(" ") + 1)));
  const held = new Set(staying.map((line) => line.split(" ")[0]!));
  const sizes: number[] = [];
  for (const { commit } of refs) {
    const input = Buffer.from([commit, ...[...held].map((each) => `^${each}`)].join("\n"));
    const args = ["rev-list", "--objects", "--disk-usage", "--stdin"];
    const size = held.has(commit) ? "0" : (await onRepository(repository, "measure refs", args, { input })).stdout;
    sizes.push(Number(size));
    held.add(commit);
  }
  return sizes;
}
