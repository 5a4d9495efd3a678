import { chmodSync, existsSync, readdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import {
  canary,
  commitAll,
  commitOn,
  content,
  git,
  integrate,
  laboratory,
  observe,
  paths,
  refs,
  RUN,
  write,
  untilNextSecond,
} from "./laboratory.ts";
import type { Laboratory } from "./laboratory.ts";
import type { Favour } from "../../src/workspace/workspace.ts";

const REF = `refs/heads/tutti/${RUN}`;
type Files = Record<string, string | null>;

/** Puts `ours` on the run's branch, and returns a commit with `theirs` from the same base. */
async function collision(lab: Laboratory, ours: Files, theirs: Files, base = lab.head): Promise<string> {
  await lab.workspaces.openBranch(lab.repo, RUN, base);
  await integrate(lab, commitOn(lab, base, ours), "first");
  return commitOn(lab, base, theirs);
}

async function settled(lab: Laboratory, commit: string, favour: Favour): Promise<string[]> {
  const merged = await integrate(lab, commit, "last", favour);
  if (!merged.ok) throw new Error(`still in conflict: ${merged.files.join(", ")}`);
  expect(merged.commit).toBe(git(lab.repo, "rev-parse", REF));
  return merged.settled;
}

describe("a merge conflict with a favoured side", () => {
  it.each([
    ["first", "1\n"],
    ["last", "2\n"],
  ] as const)("is settled by the version of the %s, and all other files merge as usual", async (favour, expected) => {
    const lab = laboratory();
    const lines = (first: string, last: string): string => `${first}\n${"same\n".repeat(9)}${last}\n`;
    const base = commitOn(lab, lab.head, { "both.txt": lines("a", "z") });
    const ours = { "a.txt": "1\n", "one.txt": "1", "both.txt": lines("A", "z") };
    const theirs = { "a.txt": "2\n", "two.txt": "2", "both.txt": lines("a", "Z") };
    const commit = await collision(lab, ours, theirs, base);
    expect(await settled(lab, commit, favour)).toEqual(["a.txt"]);
    expect(content(lab.repo, REF, "a.txt")).toBe(expected.trimEnd());
    expect(content(lab.repo, REF, "both.txt")).toBe(lines("A", "Z").trimEnd());
    expect(paths(lab.repo, REF)).toEqual(expect.arrayContaining(["one.txt", "two.txt"]));
    expect(git(lab.repo, "log", "--first-parent", "--format=%s", "-2", REF)).toBe("last\nfirst");
    expect(git(lab.repo, "rev-parse", `${REF}^2`)).toBe(commit);
  });

  it.each([
    ["first", "A1"],
    ["last", "A2"],
  ] as const)(
    "is settled by the hunks of the %s, and the other hunks of both sides are kept",
    async (favour, taken) => {
      const lab = laboratory();
      const lines = (first: string, middle: string, last: string): string =>
        [first, ...Array<string>(5).fill("same"), middle, ...Array<string>(5).fill("same"), last, ""].join("\n");
      const base = commitOn(lab, lab.head, { "long.txt": lines("a", "m", "z") });
      const ours = { "long.txt": lines("A1", "m", "Z1"), "one.txt": "1" };
      const commit = await collision(lab, ours, { "long.txt": lines("A2", "M2", "z"), "two.txt": "2" }, base);
      expect(await settled(lab, commit, favour)).toEqual(["long.txt"]);
      expect(content(lab.repo, REF, "long.txt")).toBe(lines(taken, "M2", "Z1").trimEnd());
      expect(paths(lab.repo, REF)).toEqual(expect.arrayContaining(["one.txt", "two.txt"]));
    },
  );

  it.each([
    ["binary", (mark: string) => `\0${mark}\n${"same\n".repeat(9)}z\n`, ""],
    ["not merged as text by the project", (mark: string) => `${mark}\n${"same\n".repeat(9)}z\n`, "x.dat -merge\n"],
  ])("is settled by the whole file if it is %s", async (_, made, attributes) => {
    const lab = laboratory();
    const base = commitOn(lab, lab.head, { "x.dat": made("a"), ".gitattributes": attributes });
    write(lab.repo, { ".gitattributes": attributes });
    const theirs = made("A2").replace("z", "Z2");
    const commit = await collision(lab, { "x.dat": made("A1") }, { "x.dat": theirs }, base);
    expect(await settled(lab, commit, "first")).toEqual(["x.dat"]);
    expect(content(lab.repo, REF, "x.dat")).toBe(made("A1").trimEnd());
    git(lab.repo, "update-ref", REF, `${REF}^1`);
    expect(await settled(lab, commit, "last")).toEqual(["x.dat"]);
    expect(content(lab.repo, REF, "x.dat")).toBe(theirs.trimEnd());
  });

  it("has an empty `settled` after a clean merge", async () => {
    const lab = laboratory();
    const commit = await collision(lab, { "one.txt": "1" }, { "two.txt": "2" });
    expect(await settled(lab, commit, "last")).toEqual([]);
  });

  it("is settled by a deletion if the favoured side deleted the file", async () => {
    const pathsAfter = async (favour: Favour): Promise<string[]> => {
      const lab = laboratory();
      const commit = await collision(lab, { "a.txt": null, "dir/b.txt": "1\n" }, { "a.txt": "2\n", "dir/b.txt": null });
      expect(await settled(lab, commit, favour)).toEqual(["a.txt", "dir/b.txt"]);
      return paths(lab.repo, REF);
    };
    expect(await pathsAfter("first")).toEqual([".gitignore", "dir/b.txt"]);
    expect(await pathsAfter("last")).toEqual([".gitignore", "a.txt"]);
  });

  it("is settled for names that are not UTF-8, file modes and links", async () => {
    const lab = laboratory();
    const odd = "ü\n\t~";
    const side = (mark: string, mode: number): string => {
      const scratch = join(lab.top, `side-${mark}`);
      git(lab.repo, "worktree", "add", "--quiet", "--detach", scratch, lab.head);
      write(scratch, { [odd]: mark, "run.sh": mark });
      writeFileSync(Buffer.concat([Buffer.from(`${scratch}/`), Buffer.from([0x66, 0xff])]), mark);
      chmodSync(join(scratch, "run.sh"), mode);
      symlinkSync(mark, join(scratch, "link"));
      const commit = commitAll(scratch, mark);
      git(lab.repo, "worktree", "remove", "--force", scratch);
      return commit;
    };
    const [one, two] = [side("1", 0o644), side("2", 0o755)];
    await lab.workspaces.openBranch(lab.repo, RUN, lab.head);
    await integrate(lab, one, "first");
    expect(await settled(lab, two, "last")).toHaveLength(4);
    expect(git(lab.repo, "rev-parse", `${REF}^{tree}`)).toBe(git(lab.repo, "rev-parse", `${two}^{tree}`));
  });

  it("is settled between a file and a folder with the same name", async () => {
    const kept = async (favour: Favour): Promise<{ files: string[]; settled: string[] }> => {
      const lab = laboratory();
      const commit = await collision(lab, { x: "file\n" }, { "x/one.txt": "1\n", "x/two.txt": "2\n" });
      const names = await settled(lab, commit, favour);
      return { files: paths(lab.repo, REF).filter((path) => path.startsWith("x")), settled: names };
    };
    expect(await kept("first")).toEqual({ files: ["x"], settled: ["x", "x/one.txt", "x/two.txt"] });
    expect(await kept("last")).toEqual({ files: ["x/one.txt", "x/two.txt"], settled: ["x"] });
  });

  it("is settled between a file and a link with the same name", async () => {
    const lab = laboratory();
    const scratch = join(lab.top, "linking");
    git(lab.repo, "worktree", "add", "--quiet", "--detach", scratch, lab.head);
    symlinkSync("a.txt", join(scratch, "k"));
    const linked = commitAll(scratch, "link");
    git(lab.repo, "worktree", "remove", "--force", scratch);
    await lab.workspaces.openBranch(lab.repo, RUN, lab.head);
    await integrate(lab, linked, "first");
    const commit = commitOn(lab, lab.head, { k: "words" });
    expect(await settled(lab, commit, "last")).toEqual(["k"]);
    expect(git(lab.repo, "ls-tree", "--name-only", REF)).toBe(".gitignore\na.txt\ndir\nk");
    expect(content(lab.repo, REF, "k")).toBe("words");
  });

  it("is settled in a file that one side has renamed", async () => {
    const body = "line\n".repeat(20);
    const renamed = async (favour: Favour): Promise<string[]> => {
      const lab = laboratory();
      const base = commitOn(lab, lab.head, { "old.txt": `${body}end\n` });
      const commit = await collision(
        lab,
        { "old.txt": null, "new.txt": `${body}ours\n` },
        { "old.txt": `${body}theirs\n` },
        base,
      );
      expect(await settled(lab, commit, favour)).toEqual(["new.txt"]);
      expect(paths(lab.repo, REF)).not.toContain("old.txt");
      return content(lab.repo, REF, "new.txt").split("\n").slice(-1);
    };
    expect(await renamed("first")).toEqual(["ours"]);
    expect(await renamed("last")).toEqual(["theirs"]);
  });

  it("keeps the favoured name of a file that both sides have renamed", async () => {
    const body = "line\n".repeat(20);
    const named = async (favour: Favour): Promise<Record<string, string>> => {
      const lab = laboratory();
      const base = commitOn(lab, lab.head, { "old.txt": body });
      const commit = await collision(
        lab,
        { "old.txt": null, "one.txt": `${body}1\n` },
        { "old.txt": null, "two.txt": `${body}2\n` },
        base,
      );
      expect(await settled(lab, commit, favour)).toEqual(["old.txt", "one.txt", "two.txt"]);
      const names = paths(lab.repo, REF).filter((path) => /^(?:old|one|two)/.test(path));
      return Object.fromEntries(names.map((name) => [name, content(lab.repo, REF, name)]));
    };
    expect(await named("first")).toEqual({ "one.txt": `${body}1` });
    expect(await named("last")).toEqual({ "two.txt": `${body}2` });
  });

  it("keeps a file added to a folder that the other side has renamed", async () => {
    const lab = laboratory();
    const base = commitOn(lab, lab.head, { "old/a.txt": "a\n".repeat(9), "old/b.txt": "b\n".repeat(9) });
    const moved = {
      "old/a.txt": null,
      "old/b.txt": null,
      "new/a.txt": "a\n".repeat(9),
      "new/b.txt": "b\n".repeat(9),
      "a.txt": "1\n",
    };
    const commit = await collision(lab, moved, { "old/c.txt": "c\n", "a.txt": "2\n" }, base);
    expect(await settled(lab, commit, "first")).toEqual(["a.txt"]);
    expect(paths(lab.repo, REF).filter((path) => path.endsWith("c.txt"))).toEqual(["old/c.txt"]);
  });
});

describe("settling", () => {
  it("leaves the user's checkout, index and configuration unchanged, and no scratch file behind", async () => {
    const lab = laboratory();
    const commit = await collision(lab, { "a.txt": "1\n" }, { "a.txt": "2\n" });
    const before = { ...observe(lab.repo), refs: refs(lab.repo) };
    await settled(lab, commit, "last");
    expect({ ...observe(lab.repo), refs: refs(lab.repo) }).toEqual(before);
    expect(existsSync(join(lab.folder, RUN)) ? readdirSync(join(lab.folder, RUN)) : []).toEqual([]);
  });

  it("runs no hook and no program from the repository's configuration", async () => {
    const lab = laboratory();
    const commit = await collision(lab, { "a.txt": "1\n" }, { "a.txt": "2\n" });
    const { program, wasRun } = canary(lab.top);
    for (const hook of ["post-index-change", "reference-transaction", "post-merge", "pre-merge-commit"])
      write(lab.repo, { [`.git/hooks/${hook}`]: `#!/bin/sh\n'${program}'\n` });
    for (const hook of readdirSync(join(lab.repo, ".git/hooks"))) chmodSync(join(lab.repo, ".git/hooks", hook), 0o755);
    for (const setting of ["core.fsmonitor", "filter.x.clean", "filter.x.smudge", "diff.external", "core.pager"])
      git(lab.repo, "config", setting, program);
    write(lab.repo, { ".git/info/attributes": "* filter=x\n" });
    await settled(lab, commit, "first");
    expect(wasRun()).toBe(false);
  });

  it("returns the same commit after a crash, and finds it merged when it is repeated", async () => {
    const lab = laboratory();
    const commit = await collision(lab, { "a.txt": "1\n" }, { "a.txt": "2\n" });
    const before = git(lab.repo, "rev-parse", REF);
    const first = await integrate(lab, commit, "m", "last");
    if (!first.ok) throw new Error("conflict");
    expect(await integrate(lab, commit, "m", "last")).toEqual({ ...first, settled: [] });
    // Simulates a crash before the branch was moved, with a partly written scratch index.
    git(lab.repo, "update-ref", REF, before);
    write(lab.folder, { [`${RUN}/merge.scratch-index`]: "half", [`${RUN}/merge.scratch-index.lock`]: "" });
    await untilNextSecond();
    expect(await integrate(lab, commit, "m", "last")).toEqual(first);
  });

  it("works in a repository with SHA-256 hashes", async () => {
    const lab = laboratory({ format: "sha256" });
    const commit = await collision(lab, { "a.txt": null, x: "file" }, { "a.txt": "2\n", "x/y": "folder" });
    expect(await settled(lab, commit, "first")).toEqual(["a.txt", "x", "x/y"]);
    expect(paths(lab.repo, REF)).toEqual([".gitignore", "dir/b.txt", "x"]);
  });
});
