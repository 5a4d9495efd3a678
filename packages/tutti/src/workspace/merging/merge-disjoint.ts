// `mergeDisjoint` does what `git merge-tree` does, without a process, for the merge of most tasks: both sides only add and
// change files, and no file on both sides. Git looks for renamed files and folders only if a side removes something.
import { readTree, type TreeEntry } from "../dialogue/objects.ts";
import { compareTrees, type TreeChange } from "../dialogue/tree-changes.ts";
import { hashNameOf, looseObject, writeLooseObject, type LooseObject } from "../disk/loose-object.ts";
import { isNearAncestor, parentsOf, sharedPart, treeOf, type Repository } from "../repository.ts";

/** With more changed folders than `MAX_TREES`, a process is the faster way. */
const MAX_TREES = 100;
const FOLDER = "40000";
/** The modes that git writes. It replaces those of old or foreign programs, such as 100664, when it merges. */
const MODES = new Set([FOLDER, "100644", "100755", "120000", "160000"]);

/** Returns the tree of the merge of two commits, or null if git has to merge them. */
export async function mergeDisjoint(repository: Repository, ours: string, theirs: string): Promise<string | null> {
  const [base, ...others] = await parentsOf(repository, theirs);
  if (base === undefined || others.length > 0) return null;
  // Then `base` is the only merge base: `theirs` adds a single commit to the history of `ours`.
  if ((await isNearAncestor(repository, base, ours)) !== true) return null;
  if ((await isNearAncestor(repository, theirs, ours)) !== false) return null;
  const [from, ourTree, theirTree] = await Promise.all([base, ours, theirs].map((each) => treeOf(repository, each)));
  const compare = (to: string) => compareTrees(from!, to, sharedPart(repository));
  const [ourChanges, theirChanges] = await Promise.all([compare(ourTree!), compare(theirTree!)]);
  const ourFolders = foldersOf(ourChanges);
  const theirFolders = foldersOf(theirChanges);
  if (theirFolders.size >= MAX_TREES || !areDisjoint(ourChanges, ourFolders, theirChanges, theirFolders)) return null;
  const objects: LooseObject[] = [];
  const changesIn = Map.groupBy(theirChanges, ({ path }) => path.slice(0, path.lastIndexOf("/") + 1));
  /** `prefix` ends with a slash. The folder has changed on both sides. */
  const build = async (prefix: string, tree: string): Promise<string | null> => {
    const entries = await readTree(tree, sharedPart(repository));
    if (entries === null || [...entries.values()].some(({ mode }) => !MODES.has(mode))) return null;
    for (const { path, hash, mode, isFolder } of changesIn.get(prefix) ?? []) {
      const name = path.slice(prefix.length);
      const ourFolder = isFolder && ourFolders.has(path) ? entries.get(name) : undefined;
      const merged = ourFolder ? await build(`${path}/`, ourFolder.hash) : hash;
      if (merged === null) return null;
      entries.set(name, { mode: isFolder ? FOLDER : mode, hash: merged });
    }
    const object = looseObject("tree", contentOf(entries), hashNameOf(tree));
    objects.push(object);
    return object.hash;
  };
  const root = await build("", ourTree!);
  if (root === null) return null;
  await Promise.all(objects.map((object) => writeLooseObject(repository, object, `merge ${theirs}`)));
  return root;
}

const foldersOf = (changes: readonly TreeChange[]): Set<string> =>
  new Set(changes.flatMap(({ path, isFolder }) => (isFolder ? [path] : [])));

/** False also if a file on one side has the path of a folder on the other one. */
function areDisjoint(
  ourChanges: readonly TreeChange[],
  ourFolders: ReadonlySet<string>,
  theirChanges: readonly TreeChange[],
  theirFolders: ReadonlySet<string>,
): boolean {
  const ourFiles = new Set(ourChanges.flatMap(({ path, isFolder }) => (isFolder ? [] : [path])));
  const isRemoval = ({ hash }: TreeChange): boolean => hash === null;
  if (ourChanges.some(isRemoval) || theirChanges.some(isRemoval)) return false;
  for (const path of ourFiles) if (theirFolders.has(path)) return false;
  return theirChanges.every(({ path, isFolder }) => isFolder || !(ourFiles.has(path) || ourFolders.has(path)));
}

/** Git sorts folders as if their names ended with a slash. The names are in latin1, so their order is that of bytes. */
function contentOf(entries: ReadonlyMap<string, TreeEntry>): Buffer {
  const sorted = Array.from(entries, ([name, { mode, hash }]) => ({
    key: mode === FOLDER ? `${name}/` : name,
    bytes: Buffer.concat([Buffer.from(`${mode} ${name}\0`, "latin1"), Buffer.from(hash, "hex")]),
  })).sort((a, b) => (a.key < b.key ? -1 : 1));
  return Buffer.concat(sorted.map(({ bytes }) => bytes));
}
