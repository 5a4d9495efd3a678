// A file that the person names, or the standard input.
import { readFileSync } from "node:fs";
import { TuttiError } from "../schema/error.ts";

export function readFile(name: string): string {
  try {
    return readFileSync(name === "-" ? 0 : name, "utf8");
  } catch (error) {
    const missing = (error as NodeJS.ErrnoException).code === "ENOENT";
    const message = missing ? `there is no file ${name}` : `${name} cannot be read: ${(error as Error).message}`;
    throw new TuttiError(missing ? "item_not_found" : "storage_failed", message, { cause: error });
  }
}
