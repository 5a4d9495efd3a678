import { chmodSync, cpSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { spawnSync } from "node:child_process";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { writeIndexTree } from "../../src/workspace/disk/index-tree.ts";
import type { HashName } from "../../src/workspace/disk/loose-object.ts";
import type { Repository } from "../../src/workspace/repository.ts";

let root: string;
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), "tutti-index-"));
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

function git(...args: string[]): string {
  const identity = ["-c", "user.name=A", "-c", "user.email=a@example.org"];
  const { status, stdout, stderr } = spawnSync("git", [...identity, ...args], { cwd: root, encoding: "utf8" });
  if (status !== 0) throw new Error(stderr);
  return stdout.trim();
}

function write(files: Record<string, string | null>): void {
  for (const [path, text] of Object.entries(files)) {
    const file = join(root, path);
    rmSync(file, { recursive: true, force: true });
    if (text === null) continue;
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, text);
  }
}

const repository = (): Repository => ({ root, prefix: "", gitDir: join(root, ".git"), commonDir: join(root, ".git") });

/** On a copy, because `write-tree` would fill in the index. */
async function writeTree(hashName: HashName): Promise<string | null> {
  const copy = join(root, ".git", "copied-index");
  cpSync(join(root, ".git", "index"), copy);
  return writeIndexTree(repository(), copy, hashName);
}

describe("The tree of an index", () => {
  it.each([
    ["sha1", 2],
    ["sha1", 4],
    ["sha256", 2],
  ] as const)("is the one that git would write (%s, version %i)", async (hashName, version) => {
    git("init", "-q", `--object-format=${hashName}`);
    git("config", "index.version", String(version));
    write({
      "a.txt": "1",
      "a/b/c/deep.txt": "1",
      "a/b/other.txt": "1",
      "a-b/x": "1",
      "gone/one": "1",
      "gone/two": "1",
    });
    write({ file: "1", "folder/x": "1", "Größe/ä b.txt": "1", "still/here": "1" });
    symlinkSync("a.txt", join(root, "link"));
    git("add", "-A");
    git("commit", "-q", "-m", "first");
    const rounds: (() => void)[] = [
      () => write({ "a/b/c/deep.txt": "2" }),
      () => write({ gone: null, file: null, "file/inside": "1", folder: null }),
      () => write({ folder: "a file now", "a.b": "1", "Größe/ü": "1" }),
      () => chmodSync(join(root, "a.txt"), 0o755),
      () => {
        for (const name of ["a.txt", "a.b", "a", "a-b", "file", "folder", "Größe", "still", "link"])
          write({ [name]: null });
      },
    ];
    for (const change of rounds) {
      change();
      git("add", "-A");
      const tree = await writeTree(hashName);
      // Before `write-tree`, which would write what is missing.
      if (tree !== null) git("ls-tree", "-r", "-t", tree);
      expect(tree).toBe(git("write-tree"));
    }
  });

  it("is left to git if the index has more than files of one commit, or is damaged", async () => {
    git("init", "-q");
    write({ "a.txt": "1" });
    git("add", "-A");
    // Nothing has written a tree yet, so the index names none.
    expect(await writeTree("sha1")).toBeNull();
    git("commit", "-q", "-m", "first");
    expect(await writeTree("sha1")).toBe(git("write-tree"));
    write({ "new.txt": "1" });
    git("add", "--intent-to-add", "new.txt");
    expect(await writeTree("sha1")).toBeNull();
    writeFileSync(join(root, ".git", "index"), "DIRC\0\0\0\x02\0\0\0\x05");
    expect(await writeTree("sha1")).toBeNull();
  });
});
