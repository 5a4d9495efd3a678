// Bundles the programs of `packages/tutti/src`: a process that loads few files starts in half the time. Parts that a
// command loads on demand become chunks of their own.
//
//   node scripts/build-program.mjs              into the folder of `currentBuild`, unless it exists; prints the folder
//   node scripts/build-program.mjs --into DIR   into DIR
//   node scripts/build-program.mjs --prepare    like the first, for `npm ci`: a clone works without a build, too
import { cpSync, existsSync, mkdtempSync, mkdirSync, readdirSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { rolldown } from "rolldown";
import { parseAst } from "rolldown/parseAst";
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

/**
 * Makes each `const NAME = require("…")` of a chunk load at the first use of NAME: a command uses few of the chunks and
 * Node modules that its own chunk could need. Sources therefore must not rely on the effects of an import.
 *
 * @type {import("rolldown").Plugin}
 */
const loadAtFirstUse = {
  name: "load-at-first-use",
  renderChunk(code, chunk) {
    // A keeper waits for its session with everything loaded that the start of an agent needs.
    if (chunk.isEntry && chunk.name === "session/keeper/keeper") return null;
    const paths = new Map(Array.from(code.matchAll(REQUIRE), ([, name = "", path = ""]) => [name, path]));
    if (paths.size === 0) return null;
    /** @type {{ name: string, end: number, parent: any }[]} */
    const uses = [];
    visit(parseAst(code), null, (node, parent) => {
      if (paths.has(node.name) && !isDeclared(node, parent)) uses.push({ name: node.name, end: node.end, parent });
    });
    // The default import of a CommonJS module replaces its own name.
    for (const { name, parent } of uses) if (parent.type === "AssignmentExpression") paths.delete(name);
    for (const { name, end } of uses.sort((a, b) => b.end - a.end))
      if (paths.has(name)) code = `${code.slice(0, end)}._${code.slice(end)}`;
    return code.replaceAll(REQUIRE, (line, name, path) => (paths.has(name) ? lazy(name, path) : line));
  },
};

const REQUIRE = /^(?:const|let) ([\w$]+) = require\(("[^"]+")\);$/gm;

/**
 * @param {string} name
 * @param {string} path
 */
const lazy = (name, path) =>
  `const ${name} = { get _() { const _ = require(${path}); Object.defineProperty(this, "_", { value: _ }); return _; } };`;

/**
 * Calls `found` for each identifier below `node`.
 *
 * @param {any} node
 * @param {any} parent
 * @param {(node: any, parent: any) => void} found
 */
function visit(node, parent, found) {
  if (node?.type === "Identifier") found(node, parent);
  for (const child of Object.values(node))
    if (typeof child === "object" && child !== null) visit(child, Array.isArray(node) ? parent : node, found);
}

/**
 * @param {any} node
 * @param {any} parent
 */
const isDeclared = (node, parent) => parent.type === "VariableDeclarator" && parent.id === node;

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
    plugins: [substitutes, loadAtFirstUse],
    // A busy machine is no reason to fail.
    checks: { bundlerTimings: false },
    onLog(_level, log) {
      // A module that cannot be resolved would only fail when it is needed.
      throw new Error(log.message);
    },
  });
  // Node loads CommonJS modules faster, and it can load them at their first use.
  const { output } = await bundle.write({
    dir: target,
    format: "cjs",
    strict: true,
    entryFileNames: "[name].cjs",
    chunkFileNames: "chunks/[name]-[hash].cjs",
  });
  await bundle.close();
  const names = output.flatMap((file) => (file.type === "chunk" && file.name === "index" ? file.exports : []));
  const reexports = `import index from "./index.cjs";\nexport const { ${names.join(", ")} } = index;\n`;
  writeFileSync(join(target, "index.js"), reexports);
  cpSync(join(source, "template/built-in"), join(target, "template/built-in"), { recursive: true });
}
