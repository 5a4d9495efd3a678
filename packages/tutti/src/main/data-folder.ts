import { makeFolderDurably } from "../durable-file.ts";
import { TuttiError } from "../schema/error.ts";

export function makeDataFolder(folder: string): void {
  try {
    makeFolderDurably(folder, 0o700);
  } catch (error) {
    throw new TuttiError(
      "storage_failed",
      `The data folder "${folder}" cannot be created: ${(error as Error).message}. Choose another one with --data-dir.`,
      {
        cause: error,
      },
    );
  }
}
