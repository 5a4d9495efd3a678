// Stores each built-in template in a build as `checkResolved` returns it, for `readCheckedAhead`.
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { CHECKED_FOLDER, checkedName } from "../packages/tutti/src/template/check/checked-ahead.ts";
import { TemplateLibrary } from "../packages/tutti/src/template/files/library.ts";

/** @param {string} target The folder of the build. */
export function checkTemplates(target) {
  const library = new TemplateLibrary();
  mkdirSync(join(target, CHECKED_FOLDER), { recursive: true });
  for (const { id } of library.list()) {
    const { template, outer } = library.resolve(id);
    writeFileSync(join(target, CHECKED_FOLDER, checkedName(outer)), JSON.stringify(template));
  }
}
