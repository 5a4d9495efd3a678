// Refs of a run that something else moves: merges use the heads of the log, and every commit stays reachable.
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import {
  attemptRef,
  commitAll,
  commitOn,
  content,
  git,
  key,
  laboratory,
  paths,
  refs,
  RUN,
  write,
  type Laboratory,
} from "./laboratory.ts";

const REF = `refs/heads/tutti/${RUN}`;
const tip = (lab: Laboratory, ref = REF): string => git(lab.repo, "rev-parse", ref);
const keptRef = (commit: string): string => `refs/tutti/${RUN}/moved/${commit.slice(0, 12)}`;

/** A laboratory with an open branch, and a commit that no task made. */
async function attacked() {
  const lab = laboratory();
  await lab.workspaces.openBranch(lab.repo, RUN, lab.head);
  const evil = commitOn(lab, lab.head, { "EVIL.txt": "evil" });
  const work = commitOn(lab, lab.head, { "one.txt": "1" });
  return { lab, evil, work };
}
const merge = (lab: Laboratory, head: string, commit: string) =>
  lab.workspaces.integrate(lab.repo, RUN, head, { commit, message: "m" });

describe("a run's branch that something else moves", () => {
  it("is put back before a merge, which does not contain the foreign commit", async () => {
    const { lab, evil, work } = await attacked();
    git(lab.repo, "update-ref", REF, evil);
    const merged = await merge(lab, lab.head, work);
    expect(merged).toEqual({
      ok: true,
      commit: tip(lab),
      settled: [],
      moved: { ref: REF, found: evil, recorded: lab.head, kept: keptRef(evil), restored: true },
    });
    expect(paths(lab.repo, REF)).toContain("one.txt");
    expect(paths(lab.repo, REF)).not.toContain("EVIL.txt");
    expect(tip(lab, keptRef(evil))).toBe(evil);
  });

  it("is put back although the merge conflicts", async () => {
    const { lab, evil } = await attacked();
    const one = await merge(lab, lab.head, commitOn(lab, lab.head, { "a.txt": "1\n" }));
    if (!one.ok) throw new Error("conflict");
    git(lab.repo, "update-ref", REF, evil);
    const other = await merge(lab, one.commit, commitOn(lab, lab.head, { "a.txt": "2\n" }));
    expect(other).toMatchObject({ ok: false, files: ["a.txt"], moved: { found: evil } });
    expect(tip(lab)).toBe(one.commit);
  });

  it("keeps commits of the user reachable, and merges without them", async () => {
    const { lab, work } = await attacked();
    const usersFolder = join(lab.top, "persons");
    git(lab.repo, "worktree", "add", "--quiet", usersFolder, `tutti/${RUN}`);
    write(usersFolder, { "person.txt": "p" });
    const byHand = commitAll(usersFolder, "by hand");
    git(lab.repo, "worktree", "remove", usersFolder);
    expect(await merge(lab, lab.head, work)).toMatchObject({ ok: true, moved: { kept: keptRef(byHand) } });
    expect(content(lab.repo, keptRef(byHand), "person.txt")).toBe("p");
    expect(paths(lab.repo, REF)).not.toContain("person.txt");
  });

  it("is created again if it was deleted", async () => {
    const { lab, work } = await attacked();
    git(lab.repo, "update-ref", "-d", REF);
    expect(await merge(lab, lab.head, work)).toMatchObject({ ok: true, moved: { found: null, kept: null } });
    expect(paths(lab.repo, REF)).toContain("one.txt");
  });

  it("is put back without a report if the log did not accept Tutti's own merge", async () => {
    const { lab, work } = await attacked();
    await merge(lab, lab.head, work);
    const other = commitOn(lab, lab.head, { "other.txt": "o" });
    expect(await merge(lab, lab.head, other)).toMatchObject({ ok: true, moved: null });
    expect(paths(lab.repo, REF)).not.toContain("one.txt");
  });

  it("is put back when the run continues", async () => {
    const { lab, evil } = await attacked();
    git(lab.repo, "update-ref", REF, evil);
    const moved = await lab.workspaces.openBranch(lab.repo, RUN, lab.head);
    expect(moved).toMatchObject({ found: evil, kept: keptRef(evil), restored: true });
    expect(tip(lab)).toBe(lab.head);
  });
});

describe("a run's branch that is ahead of the log after a crash", () => {
  /** Merges as an engine would that died before it stored the reports. */
  async function ahead() {
    const { lab, evil, work } = await attacked();
    const other = commitOn(lab, lab.head, { "other.txt": "o" });
    const first = await merge(lab, lab.head, work);
    if (!first.ok) throw new Error("conflict");
    await merge(lab, first.commit, other);
    const end = tip(lab);
    await lab.workspaces.release(lab.repo, RUN, { head: end, attempts: [], pending: [] });
    const pending = [work, other].map((commit) => ({ commit, message: "m" }));
    return { lab, evil, work, end, pending };
  }

  it("is put back without a report if only known work was merged", async () => {
    const { lab, pending } = await ahead();
    expect(await lab.workspaces.openBranch(lab.repo, RUN, lab.head, pending)).toBeNull();
    expect(tip(lab)).toBe(lab.head);
  });

  it("is put back without a report if a conflict was settled", async () => {
    const { lab, end } = await ahead();
    const commit = commitOn(lab, lab.head, { "one.txt": "another", "more.txt": "m" });
    await lab.workspaces.openBranch(lab.repo, RUN, end);
    const merge = { commit, message: "m", favour: "first" } as const;
    expect(await lab.workspaces.integrate(lab.repo, RUN, end, merge)).toMatchObject({
      ok: true,
      settled: ["one.txt"],
    });
    await lab.workspaces.release(lab.repo, RUN, { head: tip(lab), attempts: [], pending: [] });
    expect(await lab.workspaces.openBranch(lab.repo, RUN, end, [merge])).toBeNull();
    expect(tip(lab)).toBe(end);
  });

  it("is reported if one of the merges is not known", async () => {
    const { lab, pending, end } = await ahead();
    const moved = await lab.workspaces.openBranch(lab.repo, RUN, lab.head, pending.slice(0, 1));
    expect(moved).toMatchObject({ found: end, kept: keptRef(end) });
  });

  it("is reported if a merge of known work contains more", async () => {
    const { lab, pending, evil, work } = await ahead();
    const tree = git(lab.repo, "rev-parse", `${evil}^{tree}`);
    const forged = git(lab.repo, "commit-tree", tree, "-p", lab.head, "-p", work, "-m", "m");
    git(lab.repo, "update-ref", REF, forged);
    const moved = await lab.workspaces.openBranch(lab.repo, RUN, lab.head, pending);
    expect(moved).toMatchObject({ found: forged, kept: keptRef(forged) });
  });
});

describe("the refs of a run at its end", () => {
  it("are rewritten from the log, and the commits found there stay reachable", async () => {
    const { lab, evil } = await attacked();
    const { path } = await lab.workspaces.prepare(lab.repo, key(), lab.head);
    write(path, { "work.txt": "w" });
    const { commit } = await lab.workspaces.snapshot(lab.repo, key(), lab.head, "m");
    const merged = await merge(lab, lab.head, commit);
    if (!merged.ok) throw new Error("conflict");
    git(lab.repo, "update-ref", REF, evil);
    git(lab.repo, "update-ref", attemptRef(), evil);
    const recorded = { head: merged.commit, attempts: [{ name: "task", attempt: 1, commit }], pending: [] };
    const moved = await lab.workspaces.release(lab.repo, RUN, recorded);
    expect(moved.map(({ ref, found }) => ({ ref, found }))).toEqual([
      { ref: REF, found: evil },
      { ref: attemptRef(), found: evil },
    ]);
    expect([tip(lab), tip(lab, attemptRef()), tip(lab, keptRef(evil))]).toEqual([merged.commit, commit, evil]);
    expect(await lab.workspaces.release(lab.repo, RUN, recorded)).toEqual([]);
  });

  it("stay untouched if nothing moved them", async () => {
    const { lab, work } = await attacked();
    const merged = await merge(lab, lab.head, work);
    if (!merged.ok) throw new Error("conflict");
    const before = refs(lab.repo);
    expect(await lab.workspaces.release(lab.repo, RUN, { head: merged.commit, attempts: [], pending: [] })).toEqual([]);
    expect(refs(lab.repo)).toEqual(before);
  });

  it("are only reported if the user has the branch checked out", async () => {
    const { lab, evil } = await attacked();
    git(lab.repo, "update-ref", REF, evil);
    git(lab.repo, "checkout", "--quiet", `tutti/${RUN}`);
    writeFileSync(join(lab.repo, "new.txt"), "n");
    const moved = await lab.workspaces.release(lab.repo, RUN, { head: lab.head, attempts: [], pending: [] });
    expect(moved).toMatchObject([{ found: evil, restored: false }]);
    expect(tip(lab)).toBe(evil);
  });
});
