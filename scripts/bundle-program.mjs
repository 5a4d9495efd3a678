// `bundleProgram` bundles programs of Tutti, for `build-program.mjs` and for benchmarks with programs of their own.
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { rolldown } from "rolldown";
import { parseAst } from "rolldown/parseAst";
import { METHODS } from "./deferred-zod.mjs";

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

/** `z.ZodError`, `z.toJSONSchema` and the like make no schema. */
const FACTORY = /^(?!toJSONSchema|registry|prettifyError)[a-z]/;

/**
 * Passes each expression of a module that makes a schema to `lazily`, unless a function contains it: most schemas of a
 * module are not used, and evaluating their expressions took a tenth of the start of `tutti serve`.
 *
 * @type {import("rolldown").Plugin}
 */
const deferSchemas = {
  name: "defer-schemas",
  transform(code, id) {
    if (!id.startsWith(source) || !code.includes('from "zod"')) return null;
    /** @type {{ start: number, end: number }[]} */
    const found = [];
    findSchemas(parseAst(code, { lang: "ts" }), found);
    if (found.length === 0) return null;
    for (const { start, end } of found.sort((a, b) => b.start - a.start))
      code = `${code.slice(0, start)}/* @__PURE__ */ lazily(() => ${code.slice(start, end)})${code.slice(end)}`;
    return `import { lazily } from "zod";\n${code}`;
  },
};

/**
 * @param {any} node
 * @param {{ start: number, end: number }[]} found
 */
function findSchemas(node, found) {
  if (typeof node?.type !== "string" || /Function|^Class|^TSType/.test(node.type)) return;
  if (isSchema(node)) return void found.push(node);
  for (const child of Object.values(node))
    for (const each of Array.isArray(child) ? child : [child]) findSchemas(each, found);
}

/**
 * Whether `node` is a call such as `z.string().min(1)` or `Budget.optional()`.
 *
 * @param {any} node
 */
function isSchema(node) {
  if (node.type !== "CallExpression" || node.callee.type !== "MemberExpression") return false;
  const method = node.callee.property.name;
  let { object, property } = node.callee;
  while (object.type !== "Identifier") {
    const member = object.type === "CallExpression" ? object.callee : object;
    if (member.type !== "MemberExpression") return false;
    ({ object, property } = member);
  }
  if (object.name === "z") return FACTORY.test(property.name);
  return /^[A-Z][a-z]/.test(object.name) && !(object.name in globalThis) && METHODS.has(method);
}

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

/**
 * V8 stores a file with a single character such as "…" in two bytes per character: the engine took 0.5 MB more. A backslash
 * before such a character means nothing, and must not escape the one that replaces the character.
 *
 * @param {string} code
 */
const toAscii = (code) =>
  code.replaceAll(/\\[^]|[\u0080-\uffff]/g, (found) => {
    const last = found.slice(-1);
    return last > "\x7f" ? `\\u${last.charCodeAt(0).toString(16).padStart(4, "0")}` : found;
  });

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
    // Optional packages, which a user installs for a database. A copy in the build could not be updated on its own.
    external: ["pg", "pg-boss"],
    plugins: [deferSchemas, substitutes, loadAtFirstUse],
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
  // Not in `renderChunk`, after which rolldown prints some chunks again.
  for (const file of output) if (file.type === "chunk") writeFileSync(join(target, file.fileName), toAscii(file.code));
  return output;
}
