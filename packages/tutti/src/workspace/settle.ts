// A merge that collides, settled in favour of one side: the colliding files are taken whole from it, everything else is
// merged as usual. It works on objects and an index of its own; no file of a checkout is read or written.
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { bytes, items, text } from "./git.ts";
import type { RunPlace } from "./place.ts";
import { changedFiles, onRepository } from "./repository.ts";
import type { Repository } from "./repository.ts";
import { clearScratch } from "./working-tree.ts";

export interface SettledTree {
  tree: string;
  /** The files that were settled, sorted. */
  files: string[];
}

export interface Collision {
  ours: string;
  theirs: string;
  favoured: "ours" | "theirs";
}

/** What a path holds: git's mode and the object's name. */
interface Entry {
  mode: string;
  hash: string;
}

/** One path that could not be merged, with what the favoured side holds there; a file renamed elsewhere counts as there. */
interface Colliding {
  path: string;
  favoured: Entry | null;
}

/** The tree in which nothing collides any more. */
export async function settleTree(repository: Repository, run: RunPlace, collision: Collision): Promise<SettledTree> {
  const { tree, colliding } = await mergeAll(repository, collision);
  const side = collision.favoured === "ours" ? collision.ours : collision.theirs;
  const held = await entriesOf(repository, side);
  const wanted = new Map<string, Entry | null>();
  for (const { path, favoured } of colliding) {
    const original = originalName(path, collision);
    // Git moves a file aside where the other side has a folder, or something that is no file.
    if (original !== path) wanted.set(path, null);
    const whole = held.get(original);
    if (whole) wanted.set(original, whole);
    else wanted.set(path, favoured);
  }
  const settled = await writeSettled(repository, run, tree, wanted);
  // A file that takes the place of a folder settles what was in it, too.
  const changed = await changedFiles(repository, tree, settled);
  const files = [...colliding.map(({ path }) => text(path)), ...changed].map((path) => originalName(path, collision));
  return { tree: settled, files: [...new Set(files)].sort() };
}

/**
 * A file stays where its author put it: git's guess that it belongs into a folder the other side has renamed would be
 * one more collision, in which a side has no version of its own.
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
    const known = found.get(path)?.favoured ?? null;
    found.set(path, { path, favoured: stage === wantedStage ? { mode, hash } : known });
  }
  return { tree, colliding: [...found.values()] };
}

/** Every file of a commit; one list, because a path may hold bytes that no argument can carry. */
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

/** A line of git: fields, a tab, a path. */
function splitLine(line: string): { fields: string[]; path: string } {
  const tab = line.indexOf("\t");
  return { fields: line.slice(0, tab).split(" "), path: line.slice(tab + 1) };
}

/** Git calls a file that it moves aside by its name, a tilde, and the commit it is from; with a number if that is taken. */
function originalName(path: string, { ours, theirs }: Collision): string {
  const [, original = path] = new RegExp(`^(.+)~(?:${ours}|${theirs})(?:_\\d+)?$`, "s").exec(path) ?? [];
  return original;
}

async function writeSettled(
  repository: Repository,
  run: RunPlace,
  tree: string,
  wanted: ReadonlyMap<string, Entry | null>,
): Promise<string> {
  // In the run's own folder, so that what a crash leaves goes with the run.
  await mkdir(run.runFolder, { recursive: true });
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

/** Removals first: a file that takes the place of a folder needs it empty, and drives out what is left in it. */
function indexLines(wanted: ReadonlyMap<string, Entry | null>, nothing: string): string {
  const removed = [...wanted].filter(([, entry]) => entry === null).map(([path]) => `0 ${nothing}\t${path}\0`);
  const taken = [...wanted].flatMap(([path, entry]) => (entry ? [`${entry.mode} ${entry.hash}\t${path}\0`] : []));
  return [...removed, ...taken].join("");
}
