// Resolves imports to files of the repository. An import that resolves to no file is an external package.
import { folderOf, isJavaScript } from "../read/classify.ts";
import type { ModuleFacts } from "../read/facts.ts";
import type { Manifest } from "../read/manifests.ts";

interface ResolvedImport {
  /** Several files for an import of a whole folder, as in Go. */
  files: string[];
  /** The name of the external package. */
  external: string | null;
}

export interface Resolver {
  paths: Set<string>;
  byFolder: Map<string, string[]>;
  manifests: Manifest[];
}

const UNRESOLVED: ResolvedImport = { files: [], external: null };
/** The common modules of the standard library. */
const PYTHON_STANDARD = new Set(
  (
    "abc argparse array ast asyncio base64 bisect builtins calendar collections concurrent configparser contextlib contextvars " +
    "copy csv ctypes dataclasses datetime decimal difflib dis email enum errno fcntl filecmp fnmatch fractions ftplib functools gc " +
    "getpass gettext glob graphlib gzip hashlib heapq hmac html http imaplib importlib inspect io ipaddress itertools json keyword " +
    "linecache locale logging lzma math mimetypes mmap multiprocessing numbers operator os pathlib pdb pickle pkgutil platform " +
    "pprint profile pty pwd queue random re readline resource secrets select selectors shelve shlex shutil signal site smtplib " +
    "socket socketserver sqlite3 ssl stat statistics string struct subprocess sys sysconfig tarfile tempfile termios textwrap " +
    "threading time timeit tkinter token tokenize tomllib traceback tracemalloc tty types typing unicodedata unittest urllib uuid " +
    "venv warnings wave weakref webbrowser xml xmlrpc zipapp zipfile zipimport zlib zoneinfo __future__"
  ).split(" "),
);
const ENDINGS = ["", ".ts", ".tsx", ".mts", ".cts", ".js", ".jsx", ".mjs", ".cjs", ".d.ts"];

export function makeResolver(paths: Iterable<string>, manifests: Manifest[]): Resolver {
  const list = [...paths];
  return { paths: new Set(list), byFolder: Map.groupBy(list, folderOf), manifests };
}

export function resolveImport(
  resolver: Resolver,
  from: ModuleFacts,
  specifier: string,
  names: string[],
): ResolvedImport {
  if (isJavaScript(from.path)) return resolveJavaScript(resolver, from.path, specifier);
  if (from.language === "Python") return resolvePython(resolver, from.path, specifier, names);
  if (from.language === "Go") return resolveGo(resolver, specifier);
  if (from.language === "Rust") return resolveRust(resolver, from.path, specifier);
  return resolveJava(resolver, specifier, from.path);
}

function resolveJavaScript(resolver: Resolver, importer: string, specifier: string): ResolvedImport {
  if (specifier.startsWith(".")) return resolvedFile(javaScriptFile(resolver, joinPath(folderOf(importer), specifier)));
  if (/^(?:node:|[#~/]|@\/|https?:|data:|bun:|virtual:)/.test(specifier) || specifier === "") return UNRESOLVED;
  const name = specifier.split("/", specifier.startsWith("@") ? 2 : 1).join("/");
  const workspace = resolver.manifests.find((manifest) => manifest.ecosystem === "npm" && manifest.name === name);
  if (!workspace) return { files: [], external: name };
  const inside = specifier.slice(name.length + 1);
  return resolvedFile(
    inside === "" ? entryFile(resolver, workspace) : insidePackage(resolver, workspace.folder, inside),
  );
}

/** Tries the path with and without an extension, as the index of a folder, and as the output of TypeScript. */
function javaScriptFile(resolver: Resolver, path: string): string | null {
  const candidates = [
    ...ENDINGS.map((ending) => path + ending),
    ...(/\.[cm]?jsx?$/.test(path) ? [path.replace(/js(x?)$/, "ts$1"), path.replace(/js$/, "tsx")] : []),
    ...ENDINGS.slice(1).map((ending) => `${path === "" ? "" : `${path}/`}index${ending}`),
  ];
  return candidates.find((candidate) => resolver.paths.has(candidate)) ?? null;
}

function insidePackage(resolver: Resolver, folder: string, inside: string): string | null {
  return (
    javaScriptFile(resolver, joinPath(folder, inside)) ?? javaScriptFile(resolver, joinPath(folder, `src/${inside}`))
  );
}

/** Returns the source of a package's entry point, also if the manifest names the build output. */
export function entryFile(resolver: Resolver, manifest: Manifest): string | null {
  for (const entry of [...manifest.entries, "src/index", "index", "src/main", "main"]) {
    const file = sourceOfEntry(resolver, manifest, entry);
    if (file) return file;
  }
  return null;
}

export function sourceOfEntry(resolver: Resolver, manifest: Manifest, entry: string): string | null {
  const built = /^(?:dist|build|lib|out|esm|cjs)\/(?:esm\/|cjs\/)?(.+?)(?:\.d)?(?:\.[cm]?[jt]s)?$/.exec(entry)?.[1];
  return (
    javaScriptFile(resolver, joinPath(manifest.folder, entry)) ??
    (built === undefined ? null : insidePackage(resolver, manifest.folder, built))
  );
}

function resolvePython(resolver: Resolver, importer: string, specifier: string, names: string[]): ResolvedImport {
  const dots = /^\.*/.exec(specifier)![0].length;
  const parts = specifier.slice(dots).split(".").filter(Boolean);
  let folder = folderOf(importer);
  for (let up = 1; up < dots; up += 1) folder = folderOf(folder);
  const roots = dots > 0 ? [folder] : [...ancestors(folder), "src"];
  for (const root of roots) {
    const target = joinPath(root, parts.join("/"));
    const files = names.map((name) => pythonFile(resolver, joinPath(target, name))).filter((file) => file !== null);
    const module = pythonFile(resolver, target);
    if (files.length > 0 || module)
      return { files: [...new Set([...files, ...(module ? [module] : [])])], external: null };
  }
  return dots > 0 || PYTHON_STANDARD.has(parts[0] ?? "") ? UNRESOLVED : { files: [], external: parts[0] ?? null };
}

function pythonFile(resolver: Resolver, path: string): string | null {
  return [`${path}.py`, `${path}/__init__.py`].find((candidate) => resolver.paths.has(candidate)) ?? null;
}

function resolveGo(resolver: Resolver, specifier: string): ResolvedImport {
  for (const manifest of resolver.manifests) {
    if (manifest.ecosystem !== "Go" || manifest.name === "") continue;
    if (specifier !== manifest.name && !specifier.startsWith(`${manifest.name}/`)) continue;
    const folder = joinPath(manifest.folder, specifier.slice(manifest.name.length + 1));
    const files = (resolver.byFolder.get(folder) ?? []).filter((file) => /(?<!_test)\.go$/.test(file));
    return { files: files.slice(0, 50), external: null };
  }
  // A first segment without a dot belongs to the standard library.
  return specifier.split("/")[0]!.includes(".") ? { files: [], external: specifier } : UNRESOLVED;
}

function resolveRust(resolver: Resolver, importer: string, specifier: string): ResolvedImport {
  const [start, ...parts] = specifier.split("::");
  const folder = folderOf(importer);
  const moduleFolder = /\/(?:lib|main|mod)\.rs$|^(?:lib|main|mod)\.rs$/.test(importer)
    ? folder
    : importer.replace(/\.rs$/, "");
  const crate = ancestors(folder).find((candidate) =>
    ["lib", "main"].some((name) => resolver.paths.has(joinPath(candidate, `${name}.rs`))),
  );
  const base = start === "crate" ? (crate ?? folder) : start === "super" ? folderOf(moduleFolder) : moduleFolder;
  for (let length = parts.length; length > 0; length -= 1) {
    const path = joinPath(base, parts.slice(0, length).join("/"));
    const file = [`${path}.rs`, `${path}/mod.rs`].find((candidate) => resolver.paths.has(candidate));
    if (file) return resolvedFile(file);
  }
  return UNRESOLVED;
}

function resolveJava(resolver: Resolver, specifier: string, importer: string): ResolvedImport {
  const ending = `/${specifier.replaceAll(".", "/")}${/\.\w+$/.exec(importer)?.[0] ?? ""}`;
  const roots = ["src/main/java", "src/main/kotlin", "src", ""];
  for (const folder of ancestors(folderOf(importer))) {
    for (const root of roots) {
      const path = joinPath(joinPath(folder, root), ending.slice(1));
      if (resolver.paths.has(path)) return resolvedFile(path);
    }
  }
  return UNRESOLVED;
}

function resolvedFile(file: string | null): ResolvedImport {
  return file === null ? UNRESOLVED : { files: [file], external: null };
}

/** Returns the folder itself, its parent, and so on up to the root. */
export function ancestors(folder: string): string[] {
  const folders = [folder];
  for (let at = folder; at !== "";) {
    at = folderOf(at);
    folders.push(at);
  }
  return folders;
}

/** Joins and normalises a path. Returns "\0", which names no file, for a path that leaves the root. */
export function joinPath(folder: string, path: string): string {
  const parts: string[] = [];
  for (const part of [...folder.split("/"), ...path.split("/")]) {
    if (part === "" || part === ".") continue;
    if (part !== "..") parts.push(part);
    else if (parts.pop() === undefined) return "\0";
  }
  return parts.join("/");
}
