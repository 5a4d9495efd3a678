// Repositories that lead out of the folders which a run may use, by git's own pointers or by symbolic links.
import { chownSync, mkdirSync, renameSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, it } from "vitest";
import { expectFailure, git, key, laboratory, refs, RUN, type Laboratory } from "./laboratory.ts";
import { allowedFolders } from "../../src/server/access/allowed-folders.ts";
import { createGitWorkspaces } from "../../src/workspace/git-workspaces.ts";

/** `inside` is allowed; the repository of the laboratory is outside of it. */
function limited(): Laboratory & { inside: string } {
  const lab = laboratory();
  const inside = join(lab.top, "inside");
  mkdirSync(inside);
  const mayUse = allowedFolders([inside]).check;
  return { ...lab, inside, workspaces: createGitWorkspaces({ folder: lab.folder, mayUse }) };
}

describe("a list of folders", () => {
  it("allows a repository inside of it", async () => {
    const { workspaces, inside, repo, head } = limited();
    git(inside, "clone", "--quiet", repo, "mine");
    expect(await workspaces.inspect(join(inside, "mine"))).toMatchObject({ head });
  });

  const attacks: [string, (lab: Laboratory & { inside: string }, evil: string) => void][] = [
    [
      "a .git file",
      ({ repo }, evil) => {
        mkdirSync(evil);
        writeFileSync(join(evil, ".git"), `gitdir: ${join(repo, ".git")}\n`);
      },
    ],
    [
      "a commondir file",
      ({ repo, top }, evil) => {
        git(top, "init", "--quiet", evil);
        writeFileSync(join(evil, ".git/commondir"), `${join(repo, ".git")}\n`);
      },
    ],
    [
      "a link in place of its objects",
      ({ repo, top }, evil) => {
        git(top, "init", "--quiet", "--initial-branch=main", evil);
        for (const name of ["objects", "refs"]) {
          rmSync(join(evil, ".git", name), { recursive: true });
          symlinkSync(join(repo, ".git", name), join(evil, ".git", name));
        }
      },
    ],
    [
      "alternates",
      ({ repo, top, head }, evil) => {
        git(top, "init", "--quiet", evil);
        writeFileSync(join(evil, ".git/objects/info/alternates"), `${join(repo, ".git/objects")}\n`);
        git(evil, "update-ref", "HEAD", head);
      },
    ],
    [
      "the folder of a worktree outside, which leads back",
      ({ repo, top }, evil) => {
        const real = join(dirname(evil), "real");
        git(top, "clone", "--quiet", repo, real);
        git(real, "worktree", "add", "--quiet", "--detach", evil);
        renameSync(join(real, ".git/worktrees/evil"), join(top, "outside"));
        writeFileSync(join(top, "outside/commondir"), `${join(real, ".git")}\n`);
        writeFileSync(join(evil, ".git"), `gitdir: ${join(top, "outside")}\n`);
      },
    ],
    [
      "alternates of alternates",
      ({ repo, top, head }, evil) => {
        const between = join(dirname(evil), "between");
        for (const [folder, next] of [
          [evil, between],
          [between, repo],
        ] as const) {
          git(top, "init", "--quiet", folder);
          writeFileSync(join(folder, ".git/objects/info/alternates"), `${join(next, ".git/objects")}\n`);
        }
        git(evil, "update-ref", "HEAD", head);
      },
    ],
    [
      "alternates in quotes",
      ({ repo, top, head }, evil) => {
        git(top, "init", "--quiet", evil);
        writeFileSync(join(evil, ".git/objects/info/alternates"), `"${join(repo, ".git/objects")}"\n`);
        git(evil, "update-ref", "HEAD", head);
      },
    ],
    ...(
      [
        ["a link in place of its packs", "objects/pack", "objects/pack"],
        ["a link in place of its branches", "refs/heads", "refs/heads"],
        ["a link among its branches", "refs/heads/tutti", "refs/heads"],
        ["a link among its reflogs", "logs/refs/heads/tutti", "refs/heads"],
        ["a link in place of a reflog", "logs/HEAD", "config"],
      ] as const
    ).map(([name, place, target]): (typeof attacks)[number] => [
      name,
      ({ repo, inside }, evil) => {
        git(inside, "clone", "--quiet", "--no-hardlinks", repo, evil);
        mkdirSync(dirname(join(evil, ".git", place)), { recursive: true });
        rmSync(join(evil, ".git", place), { recursive: true, force: true });
        symlinkSync(join(repo, ".git", target), join(evil, ".git", place));
      },
    ]),
  ];

  it.each(attacks)("rejects a repository that leads out of it with %s", async (_, attack) => {
    const lab = limited();
    const { workspaces, inside, head, repo } = lab;
    const evil = join(inside, "evil");
    attack(lab, evil);
    await expectFailure(workspaces.inspect(evil), "forbidden", /is not allowed on this server/);
    await expectFailure(workspaces.prepare(evil, key(), head), "forbidden", /is not allowed/);
    await expectFailure(workspaces.openBranch(evil, RUN, head), "forbidden", /is not allowed/);
    expect(refs(repo)).toEqual(["refs/heads/main"]);
  });

  it("rejects a folder that is swapped for a link after it was inspected", async () => {
    const { workspaces, inside, repo, head } = limited();
    const mine = join(inside, "mine");
    git(inside, "clone", "--quiet", repo, mine);
    await workspaces.inspect(mine);
    renameSync(mine, `${mine}-away`);
    symlinkSync(repo, mine);
    await expectFailure(workspaces.prepare(mine, key(), head), "forbidden", /is not allowed/);
  });
});

describe("a repository", () => {
  it("in Tutti's data folder is rejected", async () => {
    const lab = laboratory();
    const workspaces = createGitWorkspaces({ folder: lab.folder, dataFolder: lab.repo });
    await expectFailure(workspaces.inspect(lab.repo), "repository_unusable", /own data folder/);
    await expectFailure(workspaces.prepare(lab.repo, key(), lab.head), "repository_unusable", /own data folder/);
  });

  // Only root can give a folder to another user.
  it.skipIf(process.getuid?.() !== 0)("of another user is rejected with git's sentence and a remedy", async () => {
    const { workspaces, repo } = laboratory();
    chownSync(repo, 12_345, 12_345);
    chownSync(join(repo, ".git"), 12_345, 12_345);
    const sentence = /detected dubious ownership in repository at '.*repo'\. If you trust it, run "git config --global/;
    await expectFailure(workspaces.inspect(repo), "repository_unusable", sentence);
  });
});
