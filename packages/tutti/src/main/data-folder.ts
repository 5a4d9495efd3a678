// The folder in which everything is kept.
import { makeFolderDurably } from "../durable-file.ts";
import { TuttiError } from "../schema/error.ts";

export function makeDataFolder(folder: string): void {
  try {
    makeFolderDurably(folder, 0o700);
  } catch (error) {
    throw new TuttiError("storage_failed", `the data folder cannot be made: ${(error as Error).message}`, {
      cause: error,
    });
  }
}
