// The programs of `agents/` without their types. Node takes twice as long to strip them as to start, and the tests start
// an agent more than a thousand times.
import { createHash } from "node:crypto";
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { stripTypeScriptTypes } from "node:module";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const SOURCES = fileURLToPath(new URL("./agents/", import.meta.url));
/** Inside the repository, so that the programs find its packages, in a sandbox too. */
const CACHE = fileURLToPath(new URL("../../../../node_modules/.cache/test-agents/", import.meta.url));

let folder: string | null = null;

export const programOf = (name: string): string => join((folder ??= strippedAgents()), withoutTypes(name));

const withoutTypes = (name: string): string => name.replace(/\.ts$/, ".mjs");

/** Returns a folder whose name is the hash of its sources. The first process that needs it writes it. */
function strippedAgents(): string {
  const programs = readdirSync(SOURCES).map((name) => ({ name, source: readFileSync(join(SOURCES, name), "utf8") }));
  const hash = createHash("sha256").update(JSON.stringify(programs)).digest("hex").slice(0, 16);
  const target = join(CACHE, hash);
  if (existsSync(target)) return target;
  mkdirSync(CACHE, { recursive: true });
  const made = mkdtempSync(`${target}-`);
  for (const { name, source } of programs) {
    const program = stripTypeScriptTypes(source).replaceAll(/(?<=from "\.\/[\w-]+)\.ts(?=")/g, ".mjs");
    writeFileSync(join(made, withoutTypes(name)), program);
  }
  try {
    renameSync(made, target);
  } catch (error) {
    rmSync(made, { recursive: true });
    // Another process was faster.
    if (!existsSync(target)) throw error;
  }
  return target;
}
