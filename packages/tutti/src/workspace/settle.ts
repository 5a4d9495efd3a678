// Settles a merge conflict in favour of one side: conflicting files are taken whole from that side, all others are
// merged as usual. It uses objects and its own index; no file of a checkout is read or written.
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { bytes, items, text } from "./git.ts";
import type { RunPaths } from "./workspace-paths.ts";
import { changedFiles, onRepository, type Repository } from "./repository.ts";
import { clearScratch } from "./working-tree.ts";

export interface SettledTree {
  tree: string;
  /** The files taken from the favoured side, sorted. */
  files: string[];
}

export interface Collision {
  ours: string;
  theirs: string;
  favoured: "ours" | "theirs";
}

interface Entry {
  mode: string;
  hash: string;
}

/** A path with a conflict. `favoured` is the favoured side's entry; a file that this side renamed keeps its entry. */
interface Colliding {
  path: string;
  favoured: Entry | null;
}

export async function settleTree(repository: Repository, run: RunPaths, collision: Collision): Promise<SettledTree> {
  const { tree, colliding } = await mergeAll(repository, collision);
  const side = collision.favoured === "ours" ? collision.ours : collision.theirs;
  const held = await entriesOf(repository, side);
  const wanted = new Map<string, Entry | null>();
  for (const { path, favoured } of colliding) {
    const original = originalName(path, collision);
    // Git moves a file aside if the other side has a folder or a special entry at its path.
    if (original !== path) wanted.set(path, null);
    const whole = held.get(original);
    if (whole) wanted.set(original, whole);
    else wanted.set(path, favoured);
  }
  const settled = await writeSettled(repository, run, tree, wanted);
  // A file that replaces a folder also settles the files that were in it.
  const changed = await changedFiles(repository, tree, settled);
  const files = [...colliding.map(({ path }) => text(path)), ...changed].map((path) => originalName(path, collision));
  return { tree: settled, files: [...new Set(files)].sort() };
}

/**
 * Turns off git's detection of directory renames. It moves a file into the folder that the other side has renamed,
 * which adds a conflict in which one side has no version.
 */
async function mergeAll(
  repository: Repository,
  { ours, theirs, favoured }: Collision,
): Promise<{ tree: string; colliding: Colliding[] }> {
  const args = ["-c", "merge.directoryRenames=false", "merge-tree", "--write-tree", "-z", "--no-messages"];
  const merged = await onRepository(repository, `merge ${theirs}`, [...args, ours, theirs], { accept: [1] });
  const [tree = "", ...stages] = items(merged.stdout);
  const wantedStage = favoured === "ours" ? "2" : "3";
  const found = new Map<string, Colliding>();
  for (const line of stages) {
    const { path, fields } = splitLine(line);
    const [mode = "", hash = "", stage] = fields;
    const previous = found.get(path)?.favoured ?? null;
    found.set(path, { path, favoured: stage === wantedStage ? { mode, hash } : previous });
  }
  return { tree, colliding: [...found.values()] };
}

/** Reads every file of a commit with one `ls-tree`, because a path may contain bytes that an argument cannot. */
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

/** Splits a line of the form "FIELD FIELD FIELD<tab>PATH". */
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
  // The index lies in the run's folder, so removing the run also removes one that a crash has left.
  await mkdir(run.runFolder, { recursive: true, mode: 0o700 });
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
