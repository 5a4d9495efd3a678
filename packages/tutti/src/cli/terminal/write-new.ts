import { writeFileSync } from "node:fs";
import { TuttiError } from "../../schema/error.ts";

/** Never overwrites a file. By default only the user may read it. */
export function writeNew(file: string, text: string, mode = 0o600): void {
  try {
    writeFileSync(file, text, { flag: "wx", mode });
  } catch (error) {
    const exists = (error as NodeJS.ErrnoException).code === "EEXIST";
    const message = exists
      ? `File "${file}" already exists. Name another file.`
      : `"${file}" cannot be written: ${(error as Error).message}. Check the path.`;
    throw new TuttiError(exists ? "wrong_state" : "storage_failed", message, { cause: error });
  }
}
