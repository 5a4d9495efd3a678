// The build checks the built-in templates (`scripts/build-program.mjs`), so a run of one of them needs no zod: its schemas
// took a tenth of the time from `tutti run` to the first prompt.
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import type { RawTemplate } from "../raw-template.ts";
import { builtPath } from "../../own-files.ts";
import type { Template } from "../../schema/template.ts";

/** The folder of a build with one file per template that `checkResolved` accepts, named by `checkedName`. */
export const CHECKED_FOLDER = "template/checked";

/** The digest of everything that `checkResolved` sees, so a template that was edited since the build has no file. */
export const checkedName = (raw: RawTemplate): string =>
  `${createHash("sha256").update(JSON.stringify(raw)).digest("hex").slice(0, 32)}.json`;

/** Returns null if the build has not checked this template. */
export function readCheckedAhead(raw: RawTemplate): Template | null {
  const folder = builtPath(CHECKED_FOLDER);
  if (folder === null) return null;
  try {
    return JSON.parse(readFileSync(`${folder}/${checkedName(raw)}`, "utf8")) as Template;
  } catch {
    return null;
  }
}
