import { readFileSync } from "node:fs";
import { TuttiError } from "../../schema/error.ts";

/** Reads stdin if `name` is `-`. */
export function readFile(name: string): string {
  try {
    return readFileSync(name === "-" ? 0 : name, "utf8");
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    if (code === "ENOENT" || code === "ENOTDIR") {
      throw new TuttiError("item_not_found", `File "${name}" does not exist. Check the path.`);
    }
    if (code === "EISDIR") throw new TuttiError("usage", `"${name}" is a folder. Name a file.`);
    throw new TuttiError("storage_failed", `"${name}" cannot be read: ${message}. Check its permissions.`, {
      cause: error,
    });
  }
}
