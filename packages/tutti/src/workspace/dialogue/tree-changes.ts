// `DIFF_TREE` starts no program of the repository, because its output has no file contents.
import { ask, type DialogueOptions } from "./git-dialogue.ts";

export interface TreeChange {
  /** One character per byte. */
  path: string;
  /** The object in the second tree. `hash` is null if the path was removed. */
  hash: string | null;
  /** In the second tree, as a tree object contains it. */
  mode: string;
  isFolder: boolean;
}

const SHAPE = ["--stdin", "-r", "-t", "-z", "--raw", "--no-renames", "--no-ext-diff", "--no-textconv"];
/** A setting such as `submodule.NAME.ignore` would hide changes. */
const DIFF_TREE = ["diff-tree", ...SHAPE, "--ignore-submodules=none"];
const FOLDER_MODE = "040000";

/** `compareTrees` needs full hashes; names would not resolve. */
export function compareTrees(from: string, to: string, options: DialogueOptions): Promise<TreeChange[]> {
  // Git repeats a line that is no request. The empty line thereby marks the end of the answer.
  return ask(DIFF_TREE, { purpose: "compare two trees", input: `${from} ${to}\n\n`, read }, options);
}

/** An answer has the line of the request, two fields per `TreeChange` that each end with a NUL, and an empty line. */
function read(output: string): { value: TreeChange[]; length: number } | null {
  const changes: TreeChange[] = [];
  let at = output.indexOf("\n") + 1;
  if (at === 0) return null;
  while (output[at] === ":") {
    const middle = output.indexOf("\0", at);
    const end = middle === -1 ? -1 : output.indexOf("\0", middle + 1);
    if (end === -1) return null;
    const [, mode = "", , hash = ""] = output.slice(at + 1, middle).split(" ");
    const isRemoved = /^0+$/.test(hash);
    const path = output.slice(middle + 1, end);
    const isFolder = isRemoved ? output.startsWith(FOLDER_MODE, at + 1) : mode === FOLDER_MODE;
    changes.push({ path, hash: isRemoved ? null : hash, mode: mode.replace(/^0+/, ""), isFolder });
    at = end + 1;
  }
  return at < output.length ? { value: changes, length: at + 1 } : null;
}
