// `findText` searches the work of attempts: the names and lines of the files that an attempt changed, and the titles of
// tasks, which are the first lines of commit messages.
import { items, text } from "../git.ts";
import { changedFiles, findCommit, onRepository, type Repository } from "../repository.ts";
import type { KeptRef } from "./kept-refs.ts";

export interface FoundText {
  /** Null for a title. */
  path: string | null;
  /** Null for a title or the name of a file. */
  line: number | null;
  text: string;
}

/** `MAX_LINES_PER_FILE` and `MAX_PER_REF` limit one search in one ref. */
const MAX_LINES_PER_FILE = 3;
const MAX_PER_REF = 100;
/** A command line has room for `MAX_PATHS` paths. With more changed files, all files are searched. */
const MAX_PATHS = 500;
const MAX_LINE = 200;

/** `base` is the commit at which the run started, or null if it is unknown. `findText` ignores upper and lower case. */
export async function findText(
  repository: Repository,
  { commit, subject }: KeptRef,
  base: string | null,
  wanted: string,
): Promise<FoundText[]> {
  const isWanted = (words: string): boolean => words.toLowerCase().includes(wanted.toLowerCase());
  const start = (base && (await findCommit(repository, base))) ?? (await findCommit(repository, `${commit}^`));
  const changed = start === null ? null : await changedFiles(repository, start, commit);
  const names = (changed ?? []).filter(isWanted).map((path) => ({ path, line: null, text: path }));
  const titles = isWanted(subject) ? [{ path: null, line: null, text: subject }] : [];
  const lines = changed?.length === 0 ? [] : await grep(repository, commit, changed, wanted);
  return [...titles, ...names, ...lines].slice(0, MAX_PER_REF);
}

async function grep(
  repository: Repository,
  commit: string,
  paths: readonly string[] | null,
  wanted: string,
): Promise<FoundText[]> {
  const flags = ["-I", "-i", "-n", "-z", "--no-color", "--no-textconv", "--full-name", "--fixed-strings"];
  const count = `--max-count=${MAX_LINES_PER_FILE}`;
  const only = paths === null || paths.length > MAX_PATHS ? [] : paths.map((path) => `:(top,literal)${path}`);
  const args = ["grep", ...flags, count, "-e", wanted, commit, "--", ...only];
  const { stdout } = await onRepository(repository, "look for a text", args, { accept: [1] });
  return stdout
    .split("\n")
    .filter((line) => line.includes("\0"))
    .map((line) => {
      const [place = "", number = "", ...rest] = items(line);
      const path = text(place.slice(commit.length + 1));
      return { path, line: Number(number), text: text(rest.join(" ")).trim().slice(0, MAX_LINE) };
    });
}
