// `Exchange` moves commits between a repository and its remote, or through a bundle.
//
// Agents can write the configuration of the repository, which can name programs to start. So every command here runs on
// a git folder of Tutti's own and borrows only the objects of the repository. This is the only code that uses the
// network.
import { createHash } from "node:crypto";
import { mkdir, rm, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { TuttiError } from "../../schema/error.ts";
import { isHash } from "../disk/ref-files.ts";
import { exists } from "../folder.ts";
import { bytes, git, text, type GitOptions, type GitOutput } from "../git.ts";
import { enqueue } from "../queue.ts";
import { listCommits, replaceRef } from "../refs.ts";
import { findCommit, isAncestor, locate, type Repository } from "../repository.ts";

/** A `Parcel` is commits on their way to another repository. `bundle` is base64, or null if the remote has them. */
export interface Parcel {
  refs: Record<string, string>;
  /** The receiver has `start` already. */
  start: string;
  bundle: string | null;
}

/** `NETWORK_MS` is enough to clone a very large repository. */
const NETWORK_MS = 60 * 60_000;
/** `push` and `send` skip all refs but `OWN_REF`, so no branch of the user moves. */
const OWN_REF = /^refs\/(?:tutti|heads\/tutti)\/[\w./-]+$/;
/** The part of a ref of `receive` behind its prefix. With `..` it would name any other file of this machine. */
const SAFE_REST = /^[\w-]+(?:\/[\w-]+)*$/;

export class Exchange {
  readonly #folder: string;

  /** No agent may write to `folder`, which holds one git folder per repository. */
  constructor(folder: string) {
    this.#folder = folder;
  }

  /** Returns the address of `origin`, or of the only remote. Null if there is no remote or a choice of several. */
  async remoteOf(cwd: string): Promise<string | null> {
    const { commonDir, root } = await locate(cwd);
    const args = ["config", "--get-regexp", "^remote\\..*\\.url$"];
    const { stdout } = await git("read the remotes", args, { cwd: root, gitDir: commonDir, accept: [1] });
    const remotes = text(stdout)
      .split("\n")
      .filter((line) => line !== "")
      .map((line) => ({
        name: line.slice("remote.".length, line.indexOf(".url ")),
        url: line.slice(line.indexOf(" ") + 1),
      }));
    const chosen = remotes.find(({ name }) => name === "origin") ?? (remotes.length === 1 ? remotes[0] : undefined);
    return chosen?.url ?? null;
  }

  /** False if the branches and tags that contain `commit` have not been fetched. */
  async isInRemote(cwd: string, remote: string, commit: string): Promise<boolean> {
    const repository = await locate(cwd);
    for (const tip of await this.#tips(repository, remote)) {
      if ((await findCommit(repository, tip)) !== null && (await isAncestor(repository, commit, tip))) return true;
    }
    return false;
  }

  async #tips(repository: Repository, remote: string): Promise<Set<string>> {
    const { stdout } = await this.#git(repository, `list the branches of ${shown(remote)}`, [
      "ls-remote",
      "--",
      remote,
    ]);
    return new Set(text(stdout).match(/^[0-9a-f]{40,64}(?=\t)/gm));
  }

  openClone(folder: string): Promise<void> {
    return createOnce(folder, join(folder, ".git"), []);
  }

  /** Fetches all branches of `remote`, and returns their commits. */
  async fetch(cwd: string, remote: string): Promise<string[]> {
    const repository = await locate(cwd);
    const args = [
      "fetch",
      "--quiet",
      "--prune",
      "--no-tags",
      "--no-write-fetch-head",
      "--",
      remote,
      "+refs/heads/*:refs/remote/*",
    ];
    return enqueue(await this.#open(repository), async () => {
      await this.#git(repository, `fetch from ${shown(remote)}`, args);
      const listed = await this.#git(repository, "list refs", [
        "for-each-ref",
        "--format=%(objectname)",
        "refs/remote",
      ]);
      return text(listed.stdout)
        .split("\n")
        .filter((line) => line !== "");
    });
  }

  /** Returns `ref` and the refs beside it that keep what the attempt left, such as `REF-saved`. */
  async refsOf(cwd: string, ref: string): Promise<Record<string, string>> {
    const found = await listCommits(await locate(cwd), [dirname(ref)]);
    return Object.fromEntries([...found].filter(([name]) => name === ref || name.startsWith(`${ref}-`)));
  }

  async has(cwd: string, commit: string): Promise<boolean> {
    return isHash(commit) && (await findCommit(await locate(cwd), commit)) !== null;
  }

  /** Falls back to a bundle if the remote refuses the push. */
  async send(cwd: string, remote: string, refs: Record<string, string>, start: string): Promise<Parcel> {
    const repository = await locate(cwd);
    const isPushed = await this.#push(repository, remote, refs);
    const bundle = isPushed ? null : await this.pack(cwd, Object.values(refs), [start]);
    return { refs, start, bundle };
  }

  async push(cwd: string, remote: string, refs: Record<string, string>): Promise<boolean> {
    return this.#push(await locate(cwd), remote, refs);
  }

  async #push(repository: Repository, remote: string, refs: Record<string, string>): Promise<boolean> {
    const entries = Object.entries(refs).filter(([ref]) => OWN_REF.test(ref));
    if (entries.length === 0) return true;
    const names = entries.map(([ref, commit]) => `+${commit}:${ref}`);
    try {
      await this.#git(repository, `push to ${shown(remote)}`, ["push", "--quiet", "--", remote, ...names]);
      return true;
    } catch {
      return false;
    }
  }

  /** Returns the commits that none of `without` contains as a base64 `bundle`, or null if there are none. */
  async pack(cwd: string, commits: readonly string[], without: readonly string[]): Promise<string | null> {
    const repository = await locate(cwd);
    const excluded: string[] = [];
    for (const commit of without) {
      if (isHash(commit) && (await findCommit(repository, commit)) !== null) excluded.push(`^${commit}`);
    }
    const listed = await this.#git(repository, "list commits", ["rev-list", "-n1", ...commits, ...excluded]);
    if (listed.stdout.trim() === "") return null;
    return enqueue(await this.#open(repository), async () => {
      const refs = commits.map((commit) => `refs/parcel/${commit}`);
      for (const commit of commits)
        await this.#git(repository, "name a commit", ["update-ref", `refs/parcel/${commit}`, commit]);
      const packed = await this.#git(repository, "pack commits", [
        "bundle",
        "create",
        "--quiet",
        "-",
        ...refs,
        ...excluded,
      ]);
      for (const ref of refs) await this.#git(repository, "remove a name", ["update-ref", "-d", ref]);
      return bytes(packed.stdout).toString("base64");
    });
  }

  /** The bundle may build on the commits of `known`. */
  async unpack(cwd: string, bundle: string, known: readonly string[]): Promise<void> {
    const repository = await locate(cwd);
    await enqueue(await this.#open(repository), async () => {
      // Git accepts a bundle only if the refs of the git folder contain the commits that it builds on.
      for (const commit of known) {
        if (isHash(commit) && (await findCommit(repository, commit)) !== null)
          await this.#git(repository, "name a commit", ["update-ref", `refs/known/${commit}`, commit]);
      }
      const file = `${await this.#open(repository)}.bundle`;
      await writeFile(file, Buffer.from(bundle, "base64"), { mode: 0o600 });
      try {
        await this.#git(repository, "unpack commits", ["bundle", "unbundle", "--", file]);
      } finally {
        await rm(file, { force: true });
      }
    });
  }

  /**
   * Adds the commits of a parcel to the repository, and sets their refs. Ignores those that are not below `refPrefix`: the
   * parcel may come from another machine.
   */
  async receive(cwd: string, remote: string | null, { refs, start, bundle }: Parcel, refPrefix: string): Promise<void> {
    const repository = await locate(cwd);
    const isBelow = (ref: string) => ref.startsWith(refPrefix) && SAFE_REST.test(ref.slice(refPrefix.length));
    const entries = Object.entries(refs).filter(([ref, commit]) => isBelow(ref) && isHash(commit));
    await this.bring(cwd, remote, { refs: Object.fromEntries(entries), bundle }, [start]);
    for (const [ref, commit] of entries)
      await enqueue(repository.commonDir, () => replaceRef(repository, ref, commit, start));
  }

  /** Like `receive`, but sets no ref. The bundle may build on the commits of `known`. */
  async bring(
    cwd: string,
    remote: string | null,
    { refs, bundle }: Pick<Parcel, "refs" | "bundle">,
    known: readonly string[],
  ): Promise<void> {
    const repository = await locate(cwd);
    const entries = Object.entries(refs);
    if (bundle !== null) await this.unpack(cwd, bundle, known);
    else if (remote !== null && entries.length > 0) await this.#fetchRefs(repository, remote, entries);
    for (const [ref, commit] of entries) {
      if ((await findCommit(repository, commit)) === null)
        throw new TuttiError("workspace_failed", `The commit ${commit} of "${ref}" did not arrive. Retry its task.`);
    }
  }

  async #fetchRefs(repository: Repository, remote: string, entries: readonly [string, string][]): Promise<void> {
    const missing: string[] = [];
    for (const [ref, commit] of entries) if ((await findCommit(repository, commit)) === null) missing.push(ref);
    if (missing.length === 0) return;
    const names = missing.map((ref) => `+${ref}:refs/arrived/${ref}`);
    const args = ["fetch", "--quiet", "--no-tags", "--no-write-fetch-head", "--", remote, ...names];
    await enqueue(await this.#open(repository), () => this.#git(repository, `fetch from ${shown(remote)}`, args));
  }

  async #open({ commonDir }: Repository): Promise<string> {
    const folder = join(this.#folder, createHash("sha256").update(commonDir).digest("hex").slice(0, 20));
    await createOnce(folder, folder, ["--bare"]);
    return folder;
  }

  async #git(repository: Repository, purpose: string, args: readonly string[]): Promise<GitOutput> {
    const gitDir = await this.#open(repository);
    const options: GitOptions = {
      cwd: this.#folder,
      gitDir,
      objectFolder: join(repository.commonDir, "objects"),
      network: true,
      timeoutMs: NETWORK_MS,
    };
    return git(purpose, args, options);
  }
}

/** A repository has a `HEAD` before it is complete, so with `createOnce` the other attempts of a host wait. */
function createOnce(folder: string, gitDir: string, args: readonly string[]): Promise<void> {
  return enqueue(`create ${gitDir}`, async () => {
    if (await exists(join(gitDir, "HEAD"))) return;
    await mkdir(folder, { recursive: true, mode: 0o700 });
    await git("create a repository", ["init", "--quiet", ...args, "--", folder], { cwd: folder });
  });
}

const shown = (remote: string): string => remote.replace(/\/\/[^@/]*@/, "//");
