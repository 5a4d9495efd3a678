// Writes the published JSON Schemas to packages/tutti/schemas, the code generated from them, and docs/events.md. With
// --check it writes nothing and fails if a file is missing, superfluous or different. A test does the same check.

import { existsSync, globSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join, sep } from "node:path";
import { fileURLToPath } from "node:url";
import { DRAFTS, jsonSchema, PUBLISHED_SCHEMAS } from "../packages/tutti/src/protocol/published-schemas.ts";
import { checksFile, renderChecks } from "./generate-checks.mjs";
import { eventsFile, renderEvents } from "./generate-events.mjs";
import { TEMPLATE_SCHEMA_FILE, templateSchemaText } from "../packages/tutti/src/template/check/template-schema.ts";

export const schemasFolder = fileURLToPath(new URL("../packages/tutti/schemas", import.meta.url));

/**
 * The text of every schema file, by path below the folder.
 *
 * @returns {Map<string, string>}
 */
export function renderSchemas() {
  const files = new Map();
  for (const draft of DRAFTS) {
    for (const name of Object.keys(PUBLISHED_SCHEMAS)) {
      for (const profile of /** @type {const} */ (["strict", "lenient"])) {
        const schema = jsonSchema(name, profile, draft);
        if (schema) files.set(`${draft}/${name}.${profile}.json`, `${JSON.stringify(schema, null, 2)}\n`);
      }
    }
  }
  files.set(TEMPLATE_SCHEMA_FILE, templateSchemaText());
  return files;
}

/** Reads the existing files in the same form. */
export function storedSchemas() {
  const paths = globSync("**/*.json", { cwd: schemasFolder }).map((path) => path.split(sep).join("/"));
  return new Map(paths.map((path) => [path, readFileSync(join(schemasFolder, path), "utf8")]));
}

/** @param {boolean} checkOnly */
async function main(checkOnly) {
  const wanted = renderSchemas();
  const stored = storedSchemas();
  const changed = [...wanted].filter(([path, text]) => stored.get(path) !== text);
  const superfluous = [...stored.keys()].filter((path) => !wanted.has(path));
  /** @type {[string, string][]} */
  const made = [
    [checksFile, await renderChecks()],
    [eventsFile, renderEvents()],
  ];
  const madeAnew = made.filter(([path, text]) => !existsSync(path) || readFileSync(path, "utf8") !== text);
  if (checkOnly) {
    const paths = [...changed.map(([path]) => path), ...superfluous, ...madeAnew.map(([path]) => path)];
    for (const path of paths) console.error(`${path} is not up to date. Run: npm run schemas`);
    process.exitCode = paths.length > 0 ? 1 : 0;
    return;
  }
  for (const path of superfluous) rmSync(join(schemasFolder, path));
  for (const [path, text] of changed) {
    const folder = dirname(join(schemasFolder, path));
    if (!existsSync(folder)) mkdirSync(folder, { recursive: true });
    writeFileSync(join(schemasFolder, path), text);
  }
  for (const [path, text] of madeAnew) writeFileSync(path, text);
}

if (process.argv[1] === fileURLToPath(import.meta.url)) await main(process.argv.includes("--check"));
