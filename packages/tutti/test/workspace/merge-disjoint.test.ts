// `git merge-tree` is the reference: a merge without it has the same tree, or is left to it.
import { execFileSync } from "node:child_process";
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { randomFrom } from "../lab/random.ts";
import { endDialogues } from "../../src/workspace/dialogue/git-dialogue.ts";
import { mergeDisjoint } from "../../src/workspace/merging/merge-disjoint.ts";
import type { Repository } from "../../src/workspace/repository.ts";

let root: string;
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), "tutti-disjoint-"));
});
afterEach(async () => {
  await endDialogues([join(root, ".git")]);
  rmSync(root, { recursive: true, force: true });
});

const git = (...args: string[]): string => gitWith("", ...args);

function gitWith(input: string | Buffer, ...args: string[]): string {
  const identity = ["-c", "user.name=A", "-c", "user.email=a@example.org"];
  return execFileSync("git", [...identity, ...args], {
    cwd: root,
    encoding: "utf8",
    input,
    stdio: ["pipe", "pipe", "pipe"],
  });
}

function openRepository(format = "sha1"): void {
  git("init", "-q", `--object-format=${format}`);
}

/** Null removes a file. */
type Files = Record<string, string | null>;

function write(files: Files): void {
  for (const [path, text] of Object.entries(files)) {
    const file = join(root, path);
    rmSync(file, { recursive: true, force: true });
    if (text === null) continue;
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, text);
  }
}

function commitAll(): string {
  git("add", "-A");
  git("commit", "-q", "--allow-empty", "-m", "m");
  return git("rev-parse", "HEAD").trim();
}

function commitOn(parent: string, files: Files): string {
  git("checkout", "-q", "-f", parent);
  write(files);
  return commitAll();
}

const repository = (): Repository => ({ root, prefix: "", gitDir: join(root, ".git"), commonDir: join(root, ".git") });
const merge = (ours: string, theirs: string) => mergeDisjoint(repository(), ours, theirs);
const byGit = (ours: string, theirs: string): string => git("merge-tree", "--write-tree", ours, theirs).trim();

const BASE: Files = { "a.txt": "1", "dir/b.txt": "1", "dir/deep/c.txt": "1", "dir/other/d.txt": "1", "dir-x": "1" };

describe("A merge of commits that change no file both", () => {
  it.each(["sha1", "sha256"])(
    "has the tree that git gives it, also for links, modes and odd names (%s)",
    async (format) => {
      openRepository(format);
      write(BASE);
      const base = commitAll();
      const first = commitOn(base, { "dir/b.txt": "2", "new/one": "1", "Größe/ä b": "1" });
      const ours = commitOn(first, { "dir/deep/x": "2", "dir/deep.txt": "2" });
      git("checkout", "-q", "-f", base);
      write({ "dir/deep/c.txt": "3", "dir/other/d.txt": "3", "fresh/y/z": "3", "new.txt": "3" });
      symlinkSync("a.txt", join(root, "dir/link"));
      chmodSync(join(root, "a.txt"), 0o755);
      const theirs = commitAll();
      const tree = await merge(ours, theirs);
      expect(tree).toBe(byGit(ours, theirs));
      git("fsck", "--strict", tree!);
    },
  );

  it.each<[string, Files, Files]>([
    ["the same file", { "a.txt": "2" }, { "a.txt": "3" }],
    ["the same file in the same way", { "new.txt": "2" }, { "new.txt": "2" }],
    ["a file that the other side removes", { "a.txt": null }, { "a.txt": "3" }],
    ["a folder that the other side renames", { "dir/deep/c.txt": null, "moved/c.txt": "1" }, { "dir/deep/new": "3" }],
    ["other files, and remove one", { "new.txt": "2" }, { "dir/b.txt": null }],
    ["a file at the path of a folder of the other side", { "new/x": "2" }, { new: "3" }],
    ["a folder at the path of a file of the other side", { new: "2" }, { "new/x": "3" }],
  ])("is left to git if they change %s", async (_, ourFiles, theirFiles) => {
    openRepository();
    write(BASE);
    const base = commitAll();
    expect(await merge(commitOn(base, ourFiles), commitOn(base, theirFiles))).toBeNull();
  });

  it("is left to git if it has not a single commit whose parent the other side contains", async () => {
    openRepository();
    write(BASE);
    const base = commitAll();
    const ours = commitOn(base, { "ours.txt": "2" });
    // The change of `one` is a removal or a change from `two` to `ours`.
    const between: Files[] = [{ "a.txt": "2" }, { one: "1" }];
    for (const one of between) {
      const two = commitOn(commitOn(base, one), { two: "1" });
      expect(await merge(ours, two)).toBeNull();
    }
    const two = commitOn(commitOn(base, { one: "1" }), { two: "1" });
    git("checkout", "-q", "-f", ours);
    git("merge", "-q", "--no-ff", "-m", "m", two);
    expect(await merge(ours, git("rev-parse", "HEAD").trim())).toBeNull();
    expect(await merge(ours, base)).toBeNull();
  });

  it("is left to git if the other side contains the commit and has reverted it", async () => {
    openRepository();
    write(BASE);
    const base = commitAll();
    const theirs = commitOn(base, { "new.txt": "3" });
    const ours = commitOn(theirs, { "new.txt": null });
    expect(byGit(ours, theirs)).toBe(git("rev-parse", `${ours}^{tree}`).trim());
    expect(await merge(ours, theirs)).toBeNull();
  });

  it.each(["100664", "040000"])(
    "is left to git if a tree has the mode %s, which git no longer writes",
    async (mode) => {
      openRepository();
      write(BASE);
      commitAll();
      const entry = (type: string, name: string, as: string): Buffer => {
        const hash = git("rev-parse", `HEAD:${type}`).trim();
        return Buffer.concat([Buffer.from(`${as} ${name}\0`), Buffer.from(hash, "hex")]);
      };
      const raw = Buffer.concat(
        mode === "100664" ? [entry("a.txt", "b", mode)] : [entry("a.txt", "b-x", "100644"), entry("dir", "b", mode)],
      );
      const tree = gitWith(raw, "hash-object", "-t", "tree", "-w", "--stdin", "--literally").trim();
      const commit = (of: string, ...parents: string[]): string =>
        git("commit-tree", "-m", "m", ...parents.flatMap((each) => ["-p", each]), of).trim();
      const base = commit(tree);
      const added = (name: string): string =>
        gitWith(
          Buffer.concat([raw, entry("a.txt", name, "100644")]),
          "hash-object",
          "-t",
          "tree",
          "-w",
          "--stdin",
          "--literally",
        ).trim();
      expect(await merge(commit(added("y"), base), commit(added("z"), base))).toBeNull();
    },
  );

  it("is never another one than that of git, for random changes", async () => {
    openRepository();
    write(BASE);
    const base = commitAll();
    const random = randomFrom(1);
    const pick = <T>(list: readonly T[]): T => list[Math.floor(random() * list.length)]!;
    const names = ["a", "b", "c.txt", "a-b", "a.b", "dir"];
    const randomFiles = (text: string): Files =>
      Object.fromEntries(
        Array.from({ length: 3 }, () => {
          const path = Array.from({ length: 1 + Math.floor(random() * 3) }, () => pick(names)).join("/");
          return [path, `${text}${path}`] as const;
        }).filter(([path], i, all) => all.every(([other], j) => i <= j || !isBeside(path, other))),
      );
    let merged = 0;
    for (let i = 0; i < 25; i++) {
      const [ours, theirs] = [commitOn(base, randomFiles("ours")), commitOn(base, randomFiles("theirs"))];
      const tree = await merge(ours, theirs);
      if (tree === null) continue;
      expect(tree).toBe(byGit(ours, theirs));
      merged += 1;
    }
    expect(merged).toBeGreaterThan(3);
  });

  it("is never another one than that of git, for random modes, links, submodules, attributes, renames and histories", async () => {
    openRepository();
    git("config", "merge.planted.driver", "false");
    git("config", "core.autocrlf", "true");
    git("config", "core.ignorecase", "true");
    const history = new RandomHistory(2);
    const pairs = Array.from({ length: 60 }, () => history.addPair());
    gitWith(history.stream, "fast-import", "--quiet", "--force", "--export-marks=marks");
    const lines = readFileSync(join(root, "marks"), "utf8").trim().split("\n");
    const commits = new Map(lines.map((line) => line.slice(1).split(" ") as [string, string]));
    let merged = 0;
    for (const pair of pairs) {
      const [ours, theirs] = pair.map((mark) => commits.get(`${mark}`)!) as [string, string];
      const tree = await merge(ours, theirs);
      if (tree === null) continue;
      expect(tree).toBe(byGit(ours, theirs));
      merged += 1;
    }
    expect(merged).toBeGreaterThan(10);
  });
});

/** Commits for `git fast-import`. The values of `Entries` are a mode, a space and the content. */
class RandomHistory {
  stream = "";
  #marks = 0;
  readonly #random: () => number;

  constructor(seed: number) {
    this.#random = randomFrom(seed);
  }

  /** Returns the marks of two commits to merge. The second adds a single commit to its parent. */
  addPair(): [ours: number, theirs: number] {
    const entries = this.#change(new Map(), 8);
    const base = this.#add([], entries);
    const theirs = this.#add([base], this.#change(entries, this.#upTo(3)));
    const changed = this.#change(entries, this.#upTo(2));
    const ours = this.#add([base], changed);
    const kind = this.#random();
    if (kind < 0.2) return [this.#add([ours], this.#change(changed, 1)), theirs];
    if (kind < 0.3) return [this.#add([theirs], entries), theirs];
    if (kind > 0.9) return [ours, this.#add([theirs], this.#change(entries, 2))];
    if (kind > 0.4) return [ours, theirs];
    const other = this.#add([base], this.#change(entries, 1));
    return [this.#add([ours, other], this.#change(changed, 1)), theirs];
  }

  #upTo(count: number): number {
    return 1 + Math.floor(this.#random() * count);
  }

  #pick<T>(list: readonly T[]): T {
    return list[Math.floor(this.#random() * list.length)]!;
  }

  #newPath(): string {
    const names = [
      "a",
      "A",
      "b",
      "dir",
      "Dir",
      "a-b",
      "a.b",
      "\u00e9",
      "e\u0301",
      ".gitattributes",
      ".gitmodules",
      "a0",
    ];
    return Array.from({ length: this.#upTo(3) }, () => this.#pick(names)).join("/");
  }

  #newValue(): string {
    const text = this.#pick(["x\n", "x\r\n", "* merge=planted -text\n", "1\n2\n3\n4\n5\n6\n7\n8\n", "other"]);
    return `${this.#pick(["100644", "100644", "100755", "120000", "160000"])} ${text}${this.#upTo(3)}`;
  }

  #change(entries: ReadonlyMap<string, string>, count: number): Map<string, string> {
    const next = new Map(entries);
    const put = (path: string, value: string): void => {
      for (const other of next.keys()) if (isBeside(path, other)) next.delete(other);
      next.set(path, value);
    };
    for (let i = 0; i < count; i++) {
      const kind = this.#random();
      const path = this.#pick([...next.keys(), this.#newPath()]);
      const value = next.get(path);
      if (kind < 0.2) next.delete(path);
      if (value !== undefined && kind > 0.1 && kind < 0.2) put(this.#newPath(), value);
      if (kind >= 0.2) put(kind < 0.5 ? path : this.#newPath(), this.#newValue());
    }
    return next;
  }

  #add([first, ...others]: readonly number[], entries: ReadonlyMap<string, string>): number {
    const mark = ++this.#marks;
    const files = Array.from(entries, ([path, value]) => {
      const [mode, text] = [value.slice(0, 6), value.slice(7)];
      // Any commit will do for a submodule.
      if (mode === "160000") return `M 160000 ${text.length.toString(16).padStart(40, "1")} "${path}"\n`;
      return `M ${mode} inline "${path}"\ndata ${Buffer.byteLength(text)}\n${text}\n`;
    });
    this.stream += [
      first === undefined ? "reset refs/heads/random\n\n" : "",
      `commit refs/heads/random\nmark :${mark}\ncommitter A <a@example.org> ${mark} +0000\ndata 1\nm\n`,
      first === undefined ? "" : `from :${first}\n`,
      ...others.map((other) => `merge :${other}\n`),
      "deleteall\n",
      ...files,
      "\n",
    ].join("");
    return mark;
  }
}

/** Whether both cannot be files of one commit. */
const isBeside = (path: string, other: string): boolean =>
  path === other || path.startsWith(`${other}/`) || other.startsWith(`${path}/`);
