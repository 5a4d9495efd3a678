// Creates a real repository with the user's checkout and workspaces in a temporary folder, deleted after the test.
import { execFileSync } from "node:child_process";
import {
  cpSync,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { expect, onTestFinished } from "vitest";
import { TuttiError } from "../../src/schema/error.ts";
import type { ErrorCode } from "../../src/schema/error.ts";
import { createGitWorkspaces } from "../../src/workspace/git-workspaces.ts";
import type { Favour, WorkspaceKey, Workspaces } from "../../src/workspace/workspace.ts";
import { sharedSample } from "../lab/shared-sample.ts";

export const RUN = "orch_abcdefghijkl";

export interface Laboratory {
  /** Contains all other folders. */
  top: string;
  /** The user's checkout. */
  repo: string;
  folder: string;
  workspaces: Workspaces;
  head: string;
}

/** The user's repository has a.txt, dir/b.txt and a .gitignore for *.log and build/. */
export function laboratory({ format = "sha1" }: { format?: string } = {}): Laboratory {
  const top = temporaryFolder();
  const repo = join(top, "repo");
  cpSync(sampleOf(format), repo, { recursive: true, preserveTimestamps: true });
  // The files of the copy are not those that the index knows.
  git(repo, "update-index", "-q", "--refresh");
  const folder = join(top, "workspaces");
  const head = readFileSync(join(repo, ".git/refs/heads/main"), "utf8").trim();
  return { top, repo, folder, workspaces: createGitWorkspaces({ folder }), head };
}

/** Six git processes for each test would take longer than most of the tests. */
const sampleOf = (format: string): string =>
  sharedSample(`workspace-${format}`, (folder) => {
    git(folder, "init", "--quiet", "--initial-branch=main", `--object-format=${format}`);
    git(folder, "config", "user.name", "Person");
    git(folder, "config", "user.email", "person@example.org");
    write(folder, { "a.txt": "one\n", "dir/b.txt": "two\n", ".gitignore": "*.log\nbuild/\n" });
    commitAll(folder, "first");
  });

export function temporaryFolder(): string {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), "tutti-workspace-")));
  onTestFinished(() => {
    execFileSync("chmod", ["-R", "u+rwX", folder]);
    rmSync(folder, { recursive: true, force: true });
  });
  return folder;
}

/** Runs plain git in `cwd`, as the user or an agent would. */
export function git(cwd: string, ...args: string[]): string {
  const env = { ...process.env, LC_ALL: "C", GIT_CONFIG_NOSYSTEM: "1" };
  return execFileSync("git", args, { cwd, env, encoding: "utf8", stdio: ["ignore", "pipe", "pipe"] }).replace(
    /\n$/,
    "",
  );
}

export function write(folder: string, files: Record<string, string>): void {
  for (const [name, content] of Object.entries(files)) {
    const path = join(folder, name);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, content);
  }
}

export function commitAll(folder: string, message: string): string {
  git(folder, "add", "--all");
  git(folder, "-c", "user.name=Agent", "-c", "user.email=agent@example.org", "commit", "--quiet", "-m", message);
  return git(folder, "rev-parse", "HEAD");
}

/** Commits these files on top of `parent` in a scratch worktree. */
export function commitOn(lab: Laboratory, parent: string, files: Record<string, string | null>): string {
  const scratch = join(lab.top, "scratch");
  git(lab.repo, "worktree", "add", "--quiet", "--detach", scratch, parent);
  for (const [name, content] of Object.entries(files)) {
    if (content === null) rmSync(join(scratch, name));
    else write(scratch, { [name]: content });
  }
  const commit = commitAll(scratch, "change");
  git(lab.repo, "worktree", "remove", "--force", scratch);
  return commit;
}

/** Merges onto the current commit of the run's branch, like an engine whose log recorded that commit. */
export async function integrate(lab: Laboratory, commit: string, message: string, favour?: Favour) {
  const [head = lab.head] = git(lab.repo, "for-each-ref", "--format=%(objectname)", `refs/heads/tutti/${RUN}`)
    .split("\n")
    .filter((line) => line !== "");
  const { moved, ...merged } = await lab.workspaces.integrate(lab.repo, RUN, head, { commit, message, favour });
  expect(moved).toBeNull();
  return merged;
}

export const key = (name = "task", attempt = 1): WorkspaceKey => ({ runId: RUN, name, attempt });

export const attemptRef = (name = "task", attempt: number | string = 1): string =>
  `refs/tutti/${RUN}/${name}/${attempt}`;

export const refs = (repo: string, prefix = "refs"): string[] =>
  git(repo, "for-each-ref", "--format=%(refname)", prefix)
    .split("\n")
    .filter((ref) => ref !== "");

export const paths = (repo: string, commit: string): string[] =>
  git(repo, "ls-tree", "-r", "-z", "--name-only", commit)
    .split("\0")
    .filter((path) => path !== "");

export const content = (repo: string, commit: string, path: string): string => git(repo, "show", `${commit}:${path}`);

/** Everything the user could notice about a checkout: files with their times, index, HEAD, branches, configuration. */
export function observe(repo: string): Record<string, unknown> {
  const files = readdirSync(repo, { recursive: true, encoding: "utf8" })
    .filter((name) => name !== ".git" && !name.startsWith(".git/"))
    .toSorted()
    .map((name) => {
      const { mode, size, mtimeMs } = lstatSync(join(repo, name));
      return { name, mode, size, mtimeMs };
    });
  return {
    files,
    index: readFileSync(join(repo, ".git/index")).toString("base64"),
    staged: git(repo, "ls-files", "-s"),
    status: git(repo, "--no-optional-locks", "status", "--porcelain=v2", "--branch", "--ignored"),
    head: readFileSync(join(repo, ".git/HEAD"), "utf8"),
    config: readFileSync(join(repo, ".git/config"), "utf8"),
    branches: refs(repo, "refs/heads").filter((ref) => !/^refs\/heads\/(?:tutti|agent)\//.test(ref)),
  };
}

async function failure(promise: Promise<unknown>): Promise<TuttiError> {
  const error = await promise.then(
    () => null,
    (reason: unknown) => reason,
  );
  expect(error).toBeInstanceOf(TuttiError);
  return error as TuttiError;
}

export async function expectFailure(promise: Promise<unknown>, code: ErrorCode, message: RegExp): Promise<void> {
  const error = await failure(promise);
  expect({ code: error.code, message: error.message }).toEqual({ code, message: expect.stringMatching(message) });
}

/** A program that leaves a file behind when it runs. */
export function canary(top: string): { program: string; wasRun: () => boolean } {
  const mark = join(top, "canary-was-run");
  const program = join(top, "canary.sh");
  writeFileSync(program, `#!/bin/sh\ntouch '${mark}'\n`, { mode: 0o755 });
  return { program, wasRun: () => existsSync(mark) };
}

/** Git dates commits in whole seconds. */
export const untilNextSecond = async (): Promise<void> => {
  const before = Math.floor(Date.now() / 1000);
  while (Math.floor(Date.now() / 1000) === before) await sleep(10);
};
