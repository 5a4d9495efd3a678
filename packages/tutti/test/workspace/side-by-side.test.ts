import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { commitOn, git, integrate, key, laboratory, paths, refs, RUN, write } from "./laboratory.ts";

it("a snapshot that takes long delays neither the workspaces of other attempts nor merges", async () => {
  const lab = laboratory();
  const done = join(lab.top, "done");
  git(
    lab.repo,
    "config",
    "filter.slow.clean",
    `while [ -e '${lab.top}' ] && [ ! -e '${done}' ]; do sleep 0.01; done; cat`,
  );
  const start = commitOn(lab, lab.head, { ".gitattributes": "slow.txt filter=slow\n" });
  const merged = commitOn(lab, lab.head, { "merged.txt": "merged\n" });
  await lab.workspaces.openBranch(lab.repo, RUN, start);
  const { path } = await lab.workspaces.prepare(lab.repo, key("slow"), start);
  write(path, { "slow.txt": "slow\n" });
  let isTaken = false;
  const snapshot = lab.workspaces.snapshot(lab.repo, key("slow"), start, "m").finally(() => (isTaken = true));
  await lab.workspaces.prepare(lab.repo, key("other"), start);
  await lab.workspaces.snapshot(lab.repo, key("other"), start, "m");
  expect(await integrate(lab, merged, "Merge")).toMatchObject({ ok: true });
  await lab.workspaces.remove(lab.repo, key("other"));
  expect(isTaken).toBe(false);
  writeFileSync(done, "");
  expect(await snapshot).toMatchObject({ files: ["slow.txt"] });
});

it("attempts that begin, are committed, merged and removed at the same time lose nothing", async () => {
  const lab = laboratory();
  await lab.workspaces.openBranch(lab.repo, RUN, lab.head);
  const names = Array.from({ length: 12 }, (_, i) => `task-${i + 1}`);
  let head = lab.head;
  let merging: Promise<unknown> = Promise.resolve();
  const merge = async (commit: string, message: string): Promise<void> => {
    const merged = await lab.workspaces.integrate(lab.repo, RUN, head, { commit, message });
    expect(merged).toMatchObject({ ok: true, moved: null });
    if (merged.ok) head = merged.commit;
  };
  const attempt = async (name: string): Promise<void> => {
    const { path } = await lab.workspaces.prepare(lab.repo, key(name), lab.head);
    write(path, { [`${name}/in.txt`]: name, [`outside/${name}.txt`]: name });
    await lab.workspaces.saveWork(lab.repo, key(name), lab.head, "saved");
    const taken = await lab.workspaces.snapshot(lab.repo, key(name), lab.head, "m", [name]);
    expect(taken).toMatchObject({ files: [`${name}/in.txt`], outside: [`outside/${name}.txt`] });
    const merged = merging.then(() => merge(taken.commit, name));
    merging = merged;
    await Promise.all([merged, lab.workspaces.remove(lab.repo, key(name))]);
  };
  await Promise.all(names.map(attempt));
  const made = names.map((name) => `${name}/in.txt`);
  expect(paths(lab.repo, head)).toEqual([".gitignore", "a.txt", "dir/b.txt", ...made].toSorted());
  // The files outside the scope stay reachable, too.
  const kept = refs(lab.repo, `refs/tutti/${RUN}`).flatMap((ref) => paths(lab.repo, ref));
  expect(kept).toEqual(expect.arrayContaining(names.map((name) => `outside/${name}.txt`)));
  expect(git(lab.repo, "worktree", "list").split("\n")).toHaveLength(1);
  git(lab.repo, "fsck", "--strict");
});
