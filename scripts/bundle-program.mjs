// `bundleProgram` bundles programs of Tutti, for `build-program.mjs` and for benchmarks with programs of their own.
import { fileURLToPath } from "node:url";
import { rolldown } from "rolldown";
import { parseAst } from "rolldown/parseAst";

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

/**
 * @param {Record<string, string>} input Files by their names in `target`.
 * @param {string} target
 */
export async function bundleProgram(input, target) {
  const bundle = await rolldown({
    input,
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
  return output;
}
