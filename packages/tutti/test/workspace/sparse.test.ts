import { existsSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { WIDEN } from "../../src/run/plan/sparse-scope.ts";
import { commitAll, git, key, laboratory, RUN, write } from "./laboratory.ts";

it.each([["--cone"], ["--no-cone"]])(
  "a workspace of a sparse checkout (%s) is sparse, and its snapshot keeps the other files",
  async (mode) => {
    const lab = laboratory();
    write(lab.repo, { "src/one.ts": "1\n", "other/two.ts": "2\n" });
    commitAll(lab.repo, "more");
    git(lab.repo, "sparse-checkout", "set", mode, "src");
    expect(existsSync(join(lab.repo, "other"))).toBe(false);
    const { path } = await lab.workspaces.prepare(lab.repo, key(), "HEAD");
    expect([existsSync(join(path, "src/one.ts")), existsSync(join(path, "other"))]).toEqual([true, false]);
    write(path, { "src/one.ts": "changed\n", "src/new.ts": "new\n" });
    const { commit, files } = await lab.workspaces.snapshot(lab.repo, key(), "HEAD", "work");
    expect(files).toEqual(["src/new.ts", "src/one.ts"]);
    expect(git(lab.repo, "show", `${commit}:other/two.ts`)).toBe("2");
    // A file that the agent writes outside the sparse part is work, too.
    write(path, { "other/three.ts": "3\n" });
    await lab.workspaces.move(lab.repo, key(), commit);
    expect(existsSync(join(path, "other"))).toBe(false);
    await lab.workspaces.close();
  },
);

it("a workspace of a sparse checkout that its agent widens knows which files were deleted", async () => {
  const lab = laboratory();
  write(lab.repo, { "src/one.ts": "1\n", "other/two.ts": "2\n", "other/three.ts": "3\n", "third/four.ts": "4\n" });
  commitAll(lab.repo, "more");
  git(lab.repo, "sparse-checkout", "set", "--cone", "src");
  const { path } = await lab.workspaces.prepare(lab.repo, key(), "HEAD");
  git(path, "sparse-checkout", "add", "other");
  rmSync(join(path, "other/two.ts"));
  const { files } = await lab.workspaces.snapshot(lab.repo, key(), "HEAD", "work");
  expect(files).toEqual(["other/two.ts"]);
  await lab.workspaces.close();
});

describe("a whole workspace", () => {
  async function prepare() {
    const lab = laboratory();
    write(lab.repo, { "src/one.ts": "1\n", "other/two.ts": "2\n", "other/three.ts": "3\n", "other/four.ts": "4\n" });
    commitAll(lab.repo, "more");
    const { path } = await lab.workspaces.prepare(lab.repo, key(), "HEAD");
    const take = async () => (await lab.workspaces.snapshot(lab.repo, key(), "HEAD", "work")).files;
    return { lab, path, take };
  }

  it.each([
    ["--cone", "--sparse-index"],
    ["--no-cone", "--no-sparse-index"],
  ])("that its agent makes sparse (%s %s) still counts the hidden files, also after a move", async (...mode) => {
    const { lab, path, take } = await prepare();
    git(path, "sparse-checkout", "set", ...mode, "src");
    expect(existsSync(join(path, "other"))).toBe(false);
    expect(await take()).toEqual([]);
    // A file in place of a hidden one, and one that was deleted beside it, are work.
    write(path, { "other/two.ts": "changed\n", "src/new.ts": "new\n" });
    rmSync(join(path, "src/one.ts"));
    const changed = ["other/two.ts", "src/new.ts", "src/one.ts"];
    expect(await take()).toEqual(changed);
    git(path, "sparse-checkout", "disable");
    expect(await take()).toEqual(changed);
    rmSync(join(path, "other/three.ts"));
    expect(await take()).toEqual(["other/three.ts", ...changed]);
    git(path, "sparse-checkout", "set", ...mode, "src");
    await lab.workspaces.move(lab.repo, key(), "HEAD");
    expect(readdirSync(join(path, "other"))).toHaveLength(3);
    expect(await take()).toEqual([]);
    await lab.workspaces.close();
  });

  it("whose agent makes git skip a file counts it until the index lacks it", async () => {
    const { lab, path, take } = await prepare();
    git(path, "update-index", "--skip-worktree", "other/two.ts", "other/three.ts");
    rmSync(join(path, "other/two.ts"));
    write(path, { "other/three.ts": "changed\n" });
    expect(await take()).toEqual(["other/three.ts"]);
    git(path, "rm", "--quiet", "--cached", "--sparse", "other/two.ts");
    expect(await take()).toEqual(["other/three.ts", "other/two.ts"]);
    await lab.workspaces.close();
  });
});

describe("a workspace with a part of the files", () => {
  async function prepare() {
    const lab = laboratory();
    const names = [
      "src/app/one.ts",
      "src/app/deep/two.ts",
      "src/lib/three.ts",
      "src/near.ts",
      "other/a.ts",
      "other/b.ts",
    ];
    write(lab.repo, Object.fromEntries(names.map((name) => [name, `${name}\n`])));
    commitAll(lab.repo, "more");
    const config = readFileSync(join(lab.repo, ".git/config"), "utf8");
    const { path } = await lab.workspaces.prepare(lab.repo, key(), "HEAD", { only: ["src/app"] });
    const files = (): string[] =>
      readdirSync(path, { recursive: true, withFileTypes: true, encoding: "utf8" })
        .filter((entry) => entry.isFile() && entry.name.endsWith(".ts"))
        .map((entry) => join(entry.parentPath, entry.name).slice(path.length + 1))
        .toSorted();
    const take = async () => (await lab.workspaces.snapshot(lab.repo, key(), "HEAD", "work")).files;
    return { lab, path, files, take, config };
  }

  it("has the scope of its task and the files above it, and its snapshot keeps the others", async () => {
    const { lab, path, files, take, config } = await prepare();
    expect(files()).toEqual(["src/app/deep/two.ts", "src/app/one.ts", "src/near.ts"]);
    expect(git(path, "status", "--short")).toBe("");
    expect(await take()).toEqual([]);
    // Without its index, git lists everything that the workspace lacks as deleted.
    rmSync(git(path, "rev-parse", "--git-path", "index"));
    git(path, "reset", "--quiet");
    rmSync(join(path, "src/app/one.ts"));
    // A file that the workspace did not have is work, too, also in place of one that it lacks.
    write(path, { "src/lib/three.ts": "changed\n", "other/new.ts": "new\n" });
    expect(await take()).toEqual(["other/new.ts", "src/app/one.ts", "src/lib/three.ts"]);
    expect(git(lab.repo, "show", `refs/tutti/${RUN}/task/1:other/a.ts`)).toBe("other/a.ts");
    expect(readFileSync(join(lab.repo, ".git/config"), "utf8")).toBe(config);
    await lab.workspaces.remove(lab.repo, key());
    expect(git(lab.repo, "for-each-ref", "refs/tutti").split("\n")).toHaveLength(1);
    await lab.workspaces.close();
  });

  it("gets more files when the agent checks them out, and then knows which of them it deleted", async () => {
    const { lab, path, files, take } = await prepare();
    git(path, ...WIDEN.split(" ").slice(1), "other");
    expect(files()).toContain("other/a.ts");
    expect(await take()).toEqual([]);
    rmSync(join(path, "other/a.ts"));
    git(path, "rm", "--quiet", "other/b.ts");
    write(path, { "src/app/own.ts": "own\n" });
    git(path, "add", "src/app/own.ts");
    git(path, "commit", "--quiet", "-m", "own");
    expect(await take()).toEqual(["other/a.ts", "other/b.ts", "src/app/own.ts"]);
    await lab.workspaces.close();
  });

  it("knows that a file was deleted which it never had", async () => {
    const { lab, path, take } = await prepare();
    git(path, "rm", "--quiet", "--sparse", "other/a.ts");
    expect(await take()).toEqual(["other/a.ts"]);
    await lab.workspaces.close();
  });

  it("has all files after a move to another commit", async () => {
    const { lab, files, take } = await prepare();
    await take();
    write(lab.repo, { "other/later.ts": "later\n" });
    commitAll(lab.repo, "later");
    await lab.workspaces.move(lab.repo, key(), "HEAD");
    expect(files()).toHaveLength(7);
    expect(await take()).toEqual([]);
    await lab.workspaces.close();
  });
});
