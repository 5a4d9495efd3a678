// A file that the person names, or the standard input.
import { readFileSync } from "node:fs";
import { TuttiError } from "../schema/error.ts";

export function readFile(name: string): string {
  try {
    return readFileSync(name === "-" ? 0 : name, "utf8");
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    if (code === "ENOENT" || code === "ENOTDIR") throw new TuttiError("item_not_found", `there is no file ${name}`);
    if (code === "EISDIR") throw new TuttiError("usage", `${name} is a folder, not a file`);
    throw new TuttiError("storage_failed", `${name} cannot be read: ${message}`, { cause: error });
  }
}
