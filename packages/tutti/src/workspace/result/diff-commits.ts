// `diffCommits` compares as `git diff` does, without the user's settings for its output and without programs that the
// repository names for a diff.
import { FILE_STATUSES, type FileChange, type ResultDiff } from "../../schema/api/result-values.ts";
import { TuttiError } from "../../schema/error.ts";
import { items, text } from "../git.ts";
import { onRepository, type Repository } from "../repository.ts";

export interface DiffOptions {
  /** A file or folder, relative to the root of the repository, to which `diffCommits` restricts the diff. */
  path?: string | undefined;
  stat?: boolean | undefined;
}

/** In bytes. A client holds the whole response in memory, so `MAX_PATCH` limits it. */
const MAX_PATCH = 64 * 1024 * 1024;

export async function diffCommits(
  repository: Repository,
  base: string,
  head: string,
  { path, stat = false }: DiffOptions = {},
): Promise<ResultDiff> {
  const compare = async (...format: string[]): Promise<string> => {
    const flags = ["-r", "--find-renames", "--no-ext-diff", "--no-textconv", "--no-color", ...format];
    const paths = path === undefined ? [] : [`:(top,literal)${path}`];
    const args = ["diff-tree", ...flags, "--end-of-options", base, head, "--", ...paths];
    return (await onRepository(repository, "compare two commits", args, { maxStdout: MAX_PATCH })).stdout;
  };
  const files = readFiles(await compare("-z", "--raw", "--numstat"));
  const patches = stat || files.length === 0 ? null : splitPatch(await compare("--patch").catch(tooLong));
  return {
    base,
    head,
    files: files.map((file) => (patches ? { ...file, patch: takePatch(patches, file) } : file)),
    stat: text(await compare("--stat")),
  };
}

function tooLong(error: unknown): never {
  if (!(error instanceof TuttiError) || !error.message.includes("printed more than")) throw error;
  const advice = "Leave out the patches with --stat or stat=1, or restrict the diff to a task or a path.";
  throw new TuttiError("git_failed", `The diff is longer than ${MAX_PATCH / 1024 / 1024} MiB. ${advice}`);
}

/** `output` is `--raw` and then `--numstat`, both in `-z` format: the same files in the same order. */
function readFiles(output: string): FileChange[] {
  const fields = items(output).map(text);
  const files: FileChange[] = [];
  while (fields[0]?.startsWith(":")) {
    const letter = fields.shift()!.split(" ")[4]![0]!.toLowerCase();
    const isRename = letter === "r";
    const from = isRename ? { from: fields.shift()! } : {};
    const status = FILE_STATUSES.find((word) => word.startsWith(letter))!;
    files.push({ path: fields.shift()!, status, additions: 0, deletions: 0, ...from });
  }
  for (const file of files) {
    const [added = "", deleted = ""] = fields.shift()!.split("\t");
    if (file.status === "renamed") fields.splice(0, 2);
    if (added === "-") file.binary = true;
    else Object.assign(file, { additions: Number(added), deletions: Number(deleted) });
  }
  return files;
}

/** `splitPatch` relies on the sign before each line of a file: none begins with `diff`. */
const splitPatch = (output: string): string[] =>
  text(output)
    .split(/^(?=diff --git )/m)
    .filter((part) => part !== "");

/** Git prints a changed type, such as from a file to a link, as a deletion and an addition: two `patches`. */
const takePatch = (patches: string[], { status }: FileChange): string =>
  patches.splice(0, status === "typechanged" ? 2 : 1).join("");
