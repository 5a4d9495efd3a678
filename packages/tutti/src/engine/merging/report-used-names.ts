import { tasksToCompare } from "../../run/used-names.ts";
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
  /** Finds the names that one of `works` changed and another one uses. */
  find(works: readonly ChangedTexts[], signal: AbortSignal): Promise<UsedName[]>;
}

interface NameSources {
  writer: RunWriter;
  workspaces: Workspaces;
  names: NameFinder | null;
}

/** More than `MAX_FILES` changed files of one task are most likely generated. */
const MAX_FILES = 300;

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
    const found = isChanged ? await names.find(works, signal) : [];
    if (found.length > 0) await writer.submit({ type: "namesUsed", head, names: found });
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
