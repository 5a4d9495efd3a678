// `settleTree` settles a merge conflict in favour of one side. Only the conflicting hunks of a text file are taken from
// that side. Files without hunks are taken whole: binary files, links, files that one side deleted or both sides added.
// Everything else is merged as usual. It uses objects and its own index; no file of a checkout is read or written.
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { bytes, items, text } from "../git.ts";
import { findTextFiles, mergeHunks } from "./merge-hunks.ts";
import type { RunPaths } from "../workspace-paths.ts";
import { changedFiles, onRepository, type Repository } from "../repository.ts";
import { clearScratch } from "../working-tree.ts";

interface SettledTree {
  tree: string;
  files: string[];
}

interface Collision {
  ours: string;
  theirs: string;
  favoured: "ours" | "theirs";
}

interface Entry {
  mode: string;
  hash: string;
}

/** A path with a conflict, and its entry in each stage of the merge. A file that one side renamed keeps its entry. */
interface Colliding {
  path: string;
  base: Entry | null;
  ours: Entry | null;
  theirs: Entry | null;
}

/** `STAGES` has git's numbers for the versions of a conflicting file. */
const STAGES: Record<string, "base" | "ours" | "theirs"> = { "1": "base", "2": "ours", "3": "theirs" };

export async function settleTree(repository: Repository, run: RunPaths, collision: Collision): Promise<SettledTree> {
  const { tree, colliding } = await mergeAll(repository, collision);
  const side = collision.favoured === "ours" ? collision.ours : collision.theirs;
  const held = await entriesOf(repository, side);
  // Scratch files are in `runFolder`, so removing the run also removes those that a crash has left.
  await mkdir(run.runFolder, { recursive: true, mode: 0o700 });
  const byHunks = await settleByHunks(repository, run, collision, colliding);
  const wanted = new Map<string, Entry | null>(byHunks);
  for (const each of colliding) {
    const { path } = each;
    if (byHunks.has(path)) continue;
    const original = originalName(path, collision);
    // Git moves a file aside if the other side has a folder or a special entry at its path.
    if (original !== path) wanted.set(path, null);
    const whole = held.get(original);
    if (whole) wanted.set(original, whole);
    else wanted.set(path, each[collision.favoured]);
  }
  const settled = await writeSettled(repository, run, tree, wanted);
  // A file that replaces a folder also settles the files that were in it, so `colliding` alone would be incomplete.
  const changed = await changedFiles(repository, tree, settled);
  const files = [...colliding.map(({ path }) => text(path)), ...changed].map((path) => originalName(path, collision));
  return { tree: settled, files: [...new Set(files)].sort() };
}

/** Settles only files with three text versions; `settleTree` takes the others whole. */
async function settleByHunks(
  repository: Repository,
  run: RunPaths,
  collision: Collision,
  colliding: readonly Colliding[],
): Promise<Map<string, Entry>> {
  const { favoured } = collision;
  const regular = colliding.flatMap(({ path, base, ours, theirs }) => {
    const isRegular = [base, ours, theirs].every((entry) => entry?.mode.startsWith("100"));
    return isRegular && originalName(path, collision) === path
      ? [{ path, base: base!, ours: ours!, theirs: theirs! }]
      : [];
  });
  const texts = await findTextFiles(
    repository,
    regular.map(({ path }) => path),
  );
  const settled = new Map<string, Entry>();
  for (const { path, ...entries } of regular.filter((each) => texts.has(each.path))) {
    const { base, ours, theirs } = entries;
    const versions = { base: base.hash, ours: ours.hash, theirs: theirs.hash };
    const hash = await mergeHunks(repository, run, versions, favoured);
    if (hash !== null) settled.set(path, { mode: entries[favoured].mode, hash });
  }
  return settled;
}

/**
 * Turns off `directoryRenames`: git would move a file into the folder that the other side has renamed, which adds a
 * conflict in which one side has no version.
 */
async function mergeAll(
  repository: Repository,
  { ours, theirs }: Collision,
): Promise<{ tree: string; colliding: Colliding[] }> {
  const args = ["-c", "merge.directoryRenames=false", "merge-tree", "--write-tree", "-z", "--no-messages"];
  const merged = await onRepository(repository, `merge ${theirs}`, [...args, ours, theirs], { accept: [1] });
  const [tree = "", ...stages] = items(merged.stdout);
  const found = new Map<string, Colliding>();
  for (const line of stages) {
    const { path, fields } = splitLine(line);
    const [mode = "", hash = "", stage = ""] = fields;
    const known = found.get(path) ?? { path, base: null, ours: null, theirs: null };
    found.set(path, { ...known, [STAGES[stage]!]: { mode, hash } });
  }
  return { tree, colliding: [...found.values()] };
}

/** One `ls-tree` lists every file of `commit`, because a path may contain bytes that an argument cannot. */
async function entriesOf(repository: Repository, commit: string): Promise<Map<string, Entry>> {
  const args = ["ls-tree", "-r", "-z", "--full-tree", commit];
  const { stdout } = await onRepository(repository, `list the files of ${commit}`, args);
  return new Map(
    items(stdout).map((line) => {
      const { path, fields } = splitLine(line);
      const [mode = "", , hash = ""] = fields;
      return [path, { mode, hash }];
    }),
  );
}

/** `splitLine` expects "FIELD FIELD FIELD<tab>PATH". */
function splitLine(line: string): { fields: string[]; path: string } {
  const tab = line.indexOf("\t");
  return { fields: line.slice(0, tab).split(" "), path: line.slice(tab + 1) };
}

/** Git renames a file that it moves aside to NAME~COMMIT, or NAME~COMMIT_NUMBER if that exists. */
function originalName(path: string, { ours, theirs }: Collision): string {
  const [, original = path] = new RegExp(`^(.+)~(?:${ours}|${theirs})(?:_\\d+)?$`, "s").exec(path) ?? [];
  return original;
}

async function writeSettled(
  repository: Repository,
  run: RunPaths,
  tree: string,
  wanted: ReadonlyMap<string, Entry | null>,
): Promise<string> {
  const indexFile = join(run.runFolder, "merge.scratch-index");
  const purpose = "settle a merge";
  await clearScratch(indexFile);
  try {
    await onRepository(repository, purpose, ["read-tree", tree], { indexFile });
    const input = bytes(indexLines(wanted, "0".repeat(tree.length)));
    await onRepository(repository, purpose, ["update-index", "-z", "--index-info"], { indexFile, input });
    return (await onRepository(repository, purpose, ["write-tree"], { indexFile })).stdout.trim();
  } finally {
    await clearScratch(indexFile);
  }
}

/** Removals come first: `update-index` needs a folder to be empty before a file replaces it. */
function indexLines(wanted: ReadonlyMap<string, Entry | null>, nothing: string): string {
  const removed = [...wanted].filter(([, entry]) => entry === null).map(([path]) => `0 ${nothing}\t${path}\0`);
  const taken = [...wanted].flatMap(([path, entry]) => (entry ? [`${entry.mode} ${entry.hash}\t${path}\0`] : []));
  return [...removed, ...taken].join("");
}
