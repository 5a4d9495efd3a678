import { join, resolve } from "node:path";
import { TuttiError } from "../../schema/error.ts";
import { endDialogues } from "../dialogue/git-dialogue.ts";
import { COPIES, findCopied, isPlainFolder } from "../copied-folder.ts";
import { locate, type Repository } from "../repository.ts";

interface OpenedRepositories {
  /** Each repository once, also if several folders belong to it. */
  repositories: Repository[];
  /** `problems` has one sentence for each folder that could not be used. */
  problems: string[];
}

/**
 * Opens the repositories of `folders`, or those in `dataFolder` for folders without git, for `work`. `withRepositories`
 * leaves out folders that do not exist or are no repository.
 */
export async function withRepositories<T>(
  folders: readonly string[],
  dataFolder: string,
  work: (opened: OpenedRepositories) => Promise<T>,
): Promise<T> {
  try {
    const byDir = new Map<string, Repository>();
    const problems: string[] = [];
    for (const folder of new Set(folders)) {
      try {
        const repository = await locate(folder).catch(async (error: unknown) => {
          const copied = isPlainFolder(error) ? await findCopied(join(resolve(dataFolder), COPIES), folder) : null;
          if (copied) return copied;
          throw error;
        });
        if (!byDir.has(repository.commonDir)) byDir.set(repository.commonDir, repository);
      } catch (error) {
        if (!(error instanceof TuttiError)) throw error;
        if (!["folder_not_found", "not_a_repository"].includes(error.code)) problems.push(error.message);
      }
    }
    return await work({ repositories: [...byDir.values()], problems });
  } finally {
    await endDialogues();
  }
}
