import { describe, expect, it } from "vitest";
import { attemptRef, commitOn, git, integrate, key, laboratory, paths, write } from "./laboratory.ts";
import type { Laboratory } from "./laboratory.ts";

async function earlierResult(lab: Laboratory): Promise<string> {
  const firstAttempt = { ...key(), attempt: 7 };
  const { path } = await lab.workspaces.prepare(lab.repo, firstAttempt, lab.head);
  write(path, { "a.txt": "changed\n", "new.txt": "n\n" });
  const { commit } = await lab.workspaces.snapshot(lab.repo, firstAttempt, lab.head, "work of the task");
  await lab.workspaces.remove(lab.repo, firstAttempt);
  return commit;
}

/** Another commit with the same files. */
const twinOf = (lab: Laboratory, commit: string): string =>
  git(lab.repo, "commit-tree", `${commit}^{tree}`, "-m", "the same files");

describe("adopt", () => {
  it("commits a result on top of another start with the same files, and sets the attempt's ref", async () => {
    const lab = laboratory();
    const result = await earlierResult(lab);
    const start = twinOf(lab, lab.head);
    expect(await lab.workspaces.treeOf(lab.repo, start)).toBe(await lab.workspaces.treeOf(lab.repo, lab.head));
    const adopted = await lab.workspaces.adopt(lab.repo, key(), start, result, "taken over");
    expect(adopted!.files).toEqual(["a.txt", "new.txt"]);
    const { commit } = adopted!;
    expect(git(lab.repo, "log", "-1", "--format=%P|%s", commit)).toBe(`${start}|taken over`);
    expect(paths(lab.repo, commit)).toEqual(paths(lab.repo, result));
    expect(git(lab.repo, "rev-parse", attemptRef())).toBe(commit);
    expect(await lab.workspaces.adopt(lab.repo, key(), start, result, "taken over")).toEqual(adopted);
    expect(git(lab.repo, "worktree", "list").split("\n")).toHaveLength(1);
  });

  it("returns the result itself if it descends from the start, and the start if nothing changed", async () => {
    const lab = laboratory();
    const result = await earlierResult(lab);
    expect((await lab.workspaces.adopt(lab.repo, key(), lab.head, result, "m"))!.commit).toBe(result);
    const none = await lab.workspaces.adopt(lab.repo, { ...key(), attempt: 2 }, lab.head, twinOf(lab, lab.head), "m");
    expect(none).toEqual({ commit: lab.head, files: [] });
  });

  it("returns a commit that merges into a branch that has advanced meanwhile", async () => {
    const lab = laboratory();
    const result = await earlierResult(lab);
    const start = twinOf(lab, lab.head);
    const { commit } = (await lab.workspaces.adopt(lab.repo, key(), start, result, "m"))!;
    await lab.workspaces.openBranch(lab.repo, key().runId, commitOn(lab, start, { "dir/b.txt": "three\n" }));
    const merge = await integrate(lab, commit, "merge");
    expect(merge).toMatchObject({ ok: true });
    const head = (merge as { commit: string }).commit;
    expect(git(lab.repo, "show", `${head}:dir/b.txt`)).toBe("three");
    expect(git(lab.repo, "show", `${head}:a.txt`)).toBe("changed");
  });

  it("returns null for a result that no longer exists, and changes nothing", async () => {
    const lab = laboratory();
    expect(await lab.workspaces.adopt(lab.repo, key(), lab.head, "0123456789".repeat(4), "m")).toBeNull();
    expect(git(lab.repo, "for-each-ref", "refs/tutti")).toBe("");
  });
});
