// Compares the user's refs, HEAD, settings and hooks, which all sessions share. Only `mergeResult`, which the user
// orders, changes them.
import { createHash } from "node:crypto";
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { readForeignFile } from "../../foreign-file.ts";
import { readRefFiles } from "../disk/ref-files.ts";
import { items, text } from "../git.ts";
import { registrations } from "../registry.ts";
import { onRepository, type Repository } from "../repository.ts";
import { isInside } from "../workspace-paths.ts";
import type { RepositoryChanges, RepositoryState } from "../workspace.ts";

const OWN = /^refs\/heads\/(?:tutti|agent)\//;
/** Files of the git folder that decide how git reads the repository, besides `config`. */
const FILES = [
  "config.worktree",
  "info/attributes",
  "info/exclude",
  "info/grafts",
  "objects/info/alternates",
  "shallow",
];
/** Like `FILES`, in the entry of a worktree. An agent could direct git to another repository with them. */
const ENTRY_FILES = ["config.worktree", "commondir", "gitdir"];
/** `MAX_REPORTED` limits the size of the event. */
const MAX_REPORTED = 100;

/** The settings of Tutti's own worktrees, which are below `ownFolder`, are not the user's. */
export async function readState(repository: Repository, ownFolder: string): Promise<RepositoryState> {
  const { gitDir, commonDir } = repository;
  // Every turn compares the refs, so `readRefFiles` avoids a git process.
  const files = await readRefFiles(commonDir, ["refs/heads", "refs/tags"]);
  const refs = files ? withoutOwn(files) : await askForRefs(repository);
  // A reftable contains HEAD, and `askForRefs` finds it unless HEAD is detached or its branch has no commit. Then the
  // file is right.
  if (!refs.has("HEAD")) refs.set("HEAD", (await read(join(gitDir, "HEAD"))).replace(/^ref: /, "").trim());
  return { refs, config: await read(join(commonDir, "config")), files: await readFiles(repository, ownFolder) };
}

async function readFiles(repository: Repository, ownFolder: string): Promise<Map<string, string>> {
  const { commonDir } = repository;
  const hooks = await readdir(join(commonDir, "hooks")).catch(() => []);
  // An entry without a path is being added or deleted. If a worktree of the user loses its path, its files are missing.
  const entries = (await registrations(repository)).filter(({ path }) => path !== null && !isInside(ownFolder, path));
  const names = [
    ...FILES,
    ...hooks.filter((name) => !name.endsWith(".sample")).map((name) => `hooks/${name}`),
    ...entries.flatMap(({ id }) => ENTRY_FILES.map((name) => `worktrees/${id}/${name}`)),
  ];
  return new Map(names.flatMap((name) => signOf(join(commonDir, name), name)));
}

function signOf(file: string, name: string): [name: string, sign: string][] {
  try {
    return [[name, createHash("sha256").update(readForeignFile(file)).digest("hex")]];
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    return code === "ENOENT" || code === "ENOTDIR" ? [] : [[name, "unreadable"]];
  }
}

/** A new worktree of the user is no change of an earlier one. */
const isNewEntry = (name: string, { files }: RepositoryState): boolean =>
  /^worktrees\/[^/]+\/(?:commondir|gitdir)$/.test(name) && !files.has(name);

const read = (file: string): Promise<string> => readFile(file, "utf8").catch(() => "");

const withoutOwn = (refs: ReadonlyMap<string, string>): Map<string, string> =>
  new Map([...refs].filter(([ref]) => !OWN.test(ref)));

/** Starts git, because `readRefFiles` cannot read the reftable format. */
async function askForRefs(repository: Repository): Promise<Map<string, string>> {
  const args = ["for-each-ref", "--format=%(HEAD)%(objectname) %(refname)", "refs/heads", "refs/tags"];
  const { stdout } = await onRepository(repository, "read the user's refs", args, { gitDir: repository.gitDir });
  const refs = new Map<string, string>();
  for (const line of text(stdout).split("\n")) {
    const [, head, commit, ref] = /^(.)(\S+) (.*)$/.exec(line) ?? [];
    if (commit === undefined || ref === undefined) continue;
    if (head === "*") refs.set("HEAD", ref);
    if (!OWN.test(ref)) refs.set(ref, commit);
  }
  return refs;
}

export async function compareStates(
  repository: Repository,
  before: RepositoryState,
  after: RepositoryState,
): Promise<RepositoryChanges | null> {
  const names = new Set([...before.refs.keys(), ...after.refs.keys()]);
  const refs = [...names]
    .filter((ref) => before.refs.get(ref) !== after.refs.get(ref))
    .map((ref) => {
      const [from, to] = [before.refs.get(ref), after.refs.get(ref)];
      return { ref, ...(from !== undefined && { from }), ...(to !== undefined && { to }) };
    });
  const settings = before.config === after.config ? [] : await changedSettings(repository, before.config, after.config);
  const files = [...new Set([...before.files.keys(), ...after.files.keys()])]
    .filter((name) => before.files.get(name) !== after.files.get(name) && !isNewEntry(name, before))
    .sort();
  if (refs.length + settings.length + files.length === 0) return null;
  return {
    refs: refs.slice(0, MAX_REPORTED),
    settings: settings.slice(0, MAX_REPORTED),
    ...(files.length > 0 && { files: files.slice(0, MAX_REPORTED) }),
  };
}

async function changedSettings(repository: Repository, before: string, after: string): Promise<string[]> {
  const [old, current] = await Promise.all([before, after].map((config) => valuesIn(repository, config)));
  const names = new Set([...old!.keys(), ...current!.keys()]);
  return [...names].filter((name) => old!.get(name) !== current!.get(name)).sort();
}

/** Maps each setting to all of its values. `valuesIn` treats a file that git cannot read as a single setting. */
async function valuesIn(repository: Repository, config: string): Promise<Map<string, string>> {
  const args = ["config", "--file", "-", "--list", "-z"];
  const options = { input: Buffer.from(config), accept: [1, 128] };
  const { code, stdout } = await onRepository(repository, "read settings", args, options);
  if (code !== 0) return new Map([["config", config]]);
  const values = new Map<string, string>();
  for (const item of items(stdout).map(text)) {
    const [name = ""] = item.split("\n", 1);
    values.set(name, `${values.get(name) ?? ""}\0${item.slice(name.length)}`);
  }
  return values;
}
