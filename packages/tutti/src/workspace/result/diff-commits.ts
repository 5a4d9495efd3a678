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
  /** The path of a file in the diff. Returns only the files after it. */
  after?: string | undefined;
  /** The most files. Default: all. */
  limit?: number | undefined;
}

/** In bytes. A client holds the whole response in memory, so `MAX_PATCH` limits it. */
const MAX_PATCH = 64 * 1024 * 1024;

export async function diffCommits(
  repository: Repository,
  base: string,
  head: string,
  { path, stat = false, after, limit }: DiffOptions = {},
): Promise<ResultDiff> {
  const compare = async (paths: readonly string[], ...format: string[]): Promise<string> => {
    const flags = ["-r", "--find-renames", "--no-ext-diff", "--no-textconv", "--no-color", ...format];
    const within = paths.map((each) => `:(top,literal)${each}`);
    const args = ["diff-tree", ...flags, "--end-of-options", base, head, "--", ...within];
    return (await onRepository(repository, "compare two commits", args, { maxStdout: MAX_PATCH })).stdout;
  };
  const list = async (paths: readonly string[]) => readFiles(await compare(paths, "-z", "--raw", "--numstat"));
  const given = path === undefined ? [] : [path];
  const all = await list(given);
  const start = after === undefined ? 0 : indexOf(all, after) + 1;
  const page = all.slice(start, limit === undefined ? undefined : start + limit);
  const isPart = page.length < all.length;
  const paths = isPart ? page.flatMap(({ path: to, from = to }) => [...new Set([from, to])]) : given;
  // Git finds other renames among the files of one page, and the patches must fit the files, so `list` is repeated.
  const files = isPart && page.length > 0 ? await list(paths) : page;
  const patches =
    stat || files.length === 0 ? null : splitPatch(await compare(paths, "--patch").catch(tooLong)).values();
  const isLast = start + page.length === all.length;
  return {
    base,
    head,
    files: files.map((file) => (patches ? { ...file, patch: takePatch(patches, file) } : file)),
    stat: text(await compare(given, "--stat")),
    ...(isLast ? {} : { next: page.at(-1)!.path }),
  };
}

function indexOf(files: readonly FileChange[], path: string): number {
  const index = files.findIndex((file) => file.path === path);
  if (index !== -1) return index;
  throw new TuttiError("invalid_input", `The file "${path}" of "after" is not in the diff. List again from the start.`);
}

function tooLong(error: unknown): never {
  if (!(error instanceof TuttiError) || !error.message.includes("printed more than")) throw error;
  const advice = "Leave out the patches with --stat or stat=1, or restrict the diff to a task or a path.";
  throw new TuttiError("git_failed", `The diff is longer than ${MAX_PATCH / 1024 / 1024} MiB. ${advice}`);
}

/**
 * `output` is `--raw` and then `--numstat`, both in `-z` format: the same files in the same order. An iterator reads the
 * fields, because the time of `shift` grows with the length of an array.
 */
export function readFiles(output: string): FileChange[] {
  const fields = items(output).map(text);
  const remaining = fields.values();
  const next = (): string => remaining.next().value!;
  const files: FileChange[] = [];
  let field = remaining.next();
  for (; field.value?.startsWith(":"); field = remaining.next()) {
    const letter = field.value.split(" ")[4]![0]!.toLowerCase();
    const isRename = letter === "r";
    const from = isRename ? { from: next() } : {};
    const status = FILE_STATUSES.find((word) => word.startsWith(letter))!;
    files.push({ path: next(), status, additions: 0, deletions: 0, ...from });
  }
  for (const file of files) {
    const [added = "", deleted = ""] = field.value?.split("\t") ?? [];
    if (file.status === "renamed") for (const _path of ["from", "to"]) remaining.next();
    if (added === "-") file.binary = true;
    else Object.assign(file, { additions: Number(added), deletions: Number(deleted) });
    field = remaining.next();
  }
  return files;
}

/** Relies on the sign before each line of a file: none begins with `diff`. */
const splitPatch = (output: string): string[] =>
  text(output)
    .split(/^(?=diff --git )/m)
    .filter((part) => part !== "");

/** Git prints a changed type, such as from a file to a link, as a deletion and an addition: two `patches`. */
function takePatch(patches: Iterator<string>, { status }: FileChange): string {
  const first = patches.next().value ?? "";
  return status === "typechanged" ? first + (patches.next().value ?? "") : first;
}
