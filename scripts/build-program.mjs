// Bundles the programs of `packages/tutti/src`: a process that loads few files starts in half the time. Parts that a
// command loads on demand become chunks of their own.
//
//   node scripts/build-program.mjs              into the folder of `currentBuild`, unless it exists; prints the folder
//   node scripts/build-program.mjs --into DIR   into DIR
//   node scripts/build-program.mjs --prepare    like the first, for `npm ci`: a clone works without a build, too
import { cpSync, existsSync, mkdtempSync, mkdirSync, readdirSync, renameSync, rmSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { rolldown } from "rolldown";
import { buildsFolder, currentBuild } from "./build-key.mjs";

const source = fileURLToPath(new URL("../packages/tutti/src", import.meta.url));

/**
 * Modules that would make every start slower, by the part of an importer's path and the name of the import.
 *
 * @type {Record<string, Record<string, string>>}
 */
const SUBSTITUTES = {
  "/": {
    // An import of all names loads Node's HTTP client as well, which takes longer than everything else in a command.
    "node:http": `const http = process.getBuiltinModule("node:http");
      export const { createServer, request, ServerResponse, STATUS_CODES } = http;`,
  },
  "/node_modules/commander/": {
    // An import opens stdin, stdout and stderr.
    "node:process": "export default globalThis.process;",
    // Needed for commands that are programs of their own, which Tutti does not have.
    "node:child_process": "export default {};",
  },
  // Tutti's server does not speak HTTP/2.
  "/node_modules/@hono/node-server/": {
    "node:http2": "export class Http2ServerRequest {} export const constants = {};",
  },
};

/** @type {import("rolldown").Plugin} */
const substitutes = {
  name: "substitutes",
  resolveId(name, importer = "") {
    if (name === "zod" && importer.startsWith(source))
      return fileURLToPath(new URL("deferred-zod.mjs", import.meta.url));
    const part = Object.entries(SUBSTITUTES).findLast(([path, names]) => importer.includes(path) && name in names);
    return part === undefined ? null : `\0${part[0]}\0${name}`;
  },
  load(id) {
    const [, part, name] = id.split("\0");
    return part === undefined || name === undefined ? null : SUBSTITUTES[part]?.[name];
  },
};

/** Programs that are started by their file, and the public names. */
const ENTRIES = [
  "index",
  "cli/main",
  "session/keeper/keeper",
  "session/drivers/cdp/agent",
  "session/drivers/script/player",
];

const into = process.argv.indexOf("--into");
if (into > 0) await build(process.argv[into + 1] ?? "");
else if (process.argv.includes("--prepare"))
  await buildOnce().catch((error) => console.warn(`Tutti was not built and runs from its sources: ${error}`));
else console.log(await buildOnce());

async function buildOnce() {
  const target = currentBuild();
  if (existsSync(target)) return target;
  mkdirSync(buildsFolder, { recursive: true });
  const temporary = mkdtempSync(join(buildsFolder, "new-"));
  await build(temporary);
  try {
    renameSync(temporary, target);
  } catch (error) {
    rmSync(temporary, { recursive: true });
    // Another process may have built the same sources.
    if (!existsSync(target)) throw error;
  }
  for (const name of readdirSync(buildsFolder))
    if (join(buildsFolder, name) !== target) rmSync(join(buildsFolder, name), { recursive: true, force: true });
  return target;
}

/** @param {string} target */
async function build(target) {
  const bundle = await rolldown({
    input: Object.fromEntries(ENTRIES.map((name) => [name, join(source, `${name}.ts`)])),
    platform: "node",
    plugins: [substitutes],
    onLog(_level, log) {
      // A module that cannot be resolved would only fail when it is needed.
      throw new Error(log.message);
    },
  });
  await bundle.write({ dir: target, format: "esm", chunkFileNames: "chunks/[name]-[hash].js" });
  await bundle.close();
  cpSync(join(source, "template/built-in"), join(target, "template/built-in"), { recursive: true });
}
