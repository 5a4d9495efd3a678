import { dirname, join } from "node:path/posix";
import { tasksToCompare } from "../../run/outcome/used-names.ts";
import { asTuttiError } from "../../schema/error.ts";
import type { UsedName } from "../../schema/outcome.ts";
import type { Worker } from "../../schema/worker.ts";
import type { Workspaces } from "../../workspace/workspace.ts";
import type { RunWriter } from "../run-writer.ts";

/** The changed files of a task. `before` is null for a new file, and `after` for a deleted one. */
interface ChangedTexts {
  task: string;
  files: { path: string; before: string | null; after: string | null }[];
}

export interface NameFinder {
  /** Whether `find` knows the language of a file. */
  isParsed(path: string): boolean;
  /** The name of the file that declares the package of a file, such as `package.json`, or null. */
  packageFile(path: string): string | null;
  /** Finds the names that one of `works` changed and another one uses. `packages` are above the files of `works`. */
  find(works: readonly ChangedTexts[], packages: readonly PackageText[], signal: AbortSignal): Promise<UsedName[]>;
}

interface PackageText {
  path: string;
  text: string;
}

interface NameSources {
  writer: RunWriter;
  workspaces: Workspaces;
  names: NameFinder | null;
}

/** More than `MAX_FILES` changed files of one task are most likely generated. */
const MAX_FILES = 300;
const MAX_PACKAGES = 500;

/** Does nothing if `run.usedNames` is of the current head. */
export async function reportUsedNames(sources: NameSources, signal: AbortSignal): Promise<void> {
  const { writer, workspaces, names } = sources;
  const { run } = writer;
  const head = run.head!;
  if (names === null || run.usedNames?.head === head) return;
  const parsed = tasksToCompare(run).map((worker) => ({
    worker,
    paths: worker.outputFiles.filter((path) => names.isParsed(path)).slice(0, MAX_FILES),
  }));
  const compared = parsed.filter(({ paths }) => paths.length > 0);
  if (compared.length < 2) return;
  try {
    const works = await Promise.all(compared.map(({ worker, paths }) => readTexts(worker, paths, run.cwd, workspaces)));
    const isChanged = works.some(({ files }) => files.some(({ before }) => before !== null));
    const packages = isChanged
      ? await readPackages(works, names, (path) => workspaces.readText(run.cwd, head, path))
      : [];
    const found = isChanged ? await names.find(works, packages, signal) : [];
    await writer.submit({ type: "namesUsed", head, names: found });
  } catch (error) {
    if (signal.aborted) return;
    const { message, code } = asTuttiError(error);
    // The main session can do its work without these facts.
    await writer.submit({ type: "mishap", operation: "comparison of names", error: message, code });
  }
}

async function readTexts(
  { taskId, session, commit }: Worker,
  paths: readonly string[],
  cwd: string,
  workspaces: Workspaces,
): Promise<ChangedTexts> {
  const files = paths.map(async (path) => ({
    path,
    before: await workspaces.readText(cwd, session.start!, path),
    after: await workspaces.readText(cwd, commit!, path),
  }));
  return { task: taskId, files: await Promise.all(files) };
}

/** An import of another package names it as its package file does, for example `@x/core`. */
async function readPackages(
  works: readonly ChangedTexts[],
  names: NameFinder,
  read: (path: string) => Promise<string | null>,
): Promise<PackageText[]> {
  const paths = new Set<string>();
  for (const { path } of works.flatMap(({ files }) => files)) {
    const name = names.packageFile(path);
    if (name === null) continue;
    for (let folder = dirname(path); folder !== "."; folder = dirname(folder)) paths.add(join(folder, name));
    paths.add(name);
  }
  const texts = await Promise.all(
    [...paths].slice(0, MAX_PACKAGES).map(async (path) => ({ path, text: await read(path) })),
  );
  return texts.flatMap(({ path, text }) => (text === null ? [] : [{ path, text }]));
}
