// `resolveImport` finds the files of an import. An import that resolves to no file is an external package.
import { baseName, folderOf, isJavaScript } from "../read/classify.ts";
import type { ModuleFacts } from "../read/facts.ts";
import { ancestors, joinPath } from "../read/paths.ts";
import type { Manifest } from "../read/manifest.ts";

interface ResolvedImport {
  /** Several files for an import of a whole folder, as in Go. */
  files: string[];
  external: string | null;
}

export interface Resolver {
  paths: Set<string>;
  byFolder: Map<string, string[]>;
  byNamespace: Map<string, string[]>;
  byName: Map<string, string[]>;
  /** Files by the full name of a type (`typeKey`), for languages in which imports name types. */
  byType: Map<string, string>;
  /** The namespaces that a `global using` of C# imports, by the folder of its file. */
  globalImports: Map<string, string[]>;
  manifests: Manifest[];
}

const UNRESOLVED: ResolvedImport = { files: [], external: null };
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

export function makeResolver(modules: Map<string, ModuleFacts>, manifests: Manifest[]): Resolver {
  const list = [...modules.keys()];
  const withNamespace = [...modules.values()].filter(({ namespace }) => namespace !== "");
  const byType = new Map<string, string>();
  for (const { path, language, namespace, exports } of modules.values()) {
    if (!/^(?:Java|C#|PHP)$/.test(language)) continue;
    for (const { name } of exports) byType.set(typeKey(language, namespace, name), path);
  }
  return {
    paths: new Set(list),
    byFolder: Map.groupBy(list, folderOf),
    byNamespace: new Map(
      [...Map.groupBy(withNamespace, ({ namespace }) => namespace)].map(([name, found]) => [
        name,
        found.map(({ path }) => path),
      ]),
    ),
    byName: Map.groupBy(list, baseName),
    byType,
    globalImports: globalImportsOf([...modules.values()]),
    manifests,
  };
}

function globalImportsOf(modules: ModuleFacts[]): Map<string, string[]> {
  const found = modules.flatMap(({ path, imports }) =>
    imports.filter(({ isGlobal }) => isGlobal).map(({ from }) => ({ folder: folderOf(path), from })),
  );
  const byFolder = Map.groupBy(found, ({ folder }) => folder);
  return new Map([...byFolder].map(([folder, entries]) => [folder, entries.map(({ from }) => from)]));
}

function typeKey(language: string, namespace: string, name: string): string {
  const separator = language === "PHP" ? "\\" : ".";
  return `${language}\0${namespace === "" ? "" : `${namespace}${separator}`}${name}`;
}

export function resolveImport(
  resolver: Resolver,
  from: ModuleFacts,
  specifier: string,
  names: string[],
): ResolvedImport {
  if (isJavaScript(from.path)) return resolveJavaScript(resolver, from.path, specifier);
  switch (from.language) {
    case "Python":
      return resolvePython(resolver, from.path, specifier, names);
    case "Go":
      return resolveGo(resolver, specifier);
    case "Rust":
      return resolveRust(resolver, from.path, specifier, names);
    case "C":
    case "C++":
      return resolveInclude(resolver, from.path, specifier);
    case "Ruby":
      return resolveRuby(resolver, from.path, specifier);
    case "Shell":
      return resolvedFile(fileIn(resolver, [joinPath(folderOf(from.path), specifier), specifier.replace(/^\.\//, "")]));
    default:
      return resolveType(resolver, from.language, specifier);
  }
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

/** `path` may lack an extension, name a folder with an index, or name the output of TypeScript. */
function javaScriptFile(resolver: Resolver, path: string): string | null {
  const candidates = [
    ...ENDINGS.map((ending) => path + ending),
    ...(/\.[cm]?jsx?$/.test(path) ? [path.replace(/js(x?)$/, "ts$1"), path.replace(/js$/, "tsx")] : []),
    ...ENDINGS.slice(1).map((ending) => `${path === "" ? "" : `${path}/`}index${ending}`),
  ];
  return fileIn(resolver, candidates);
}

function insidePackage(resolver: Resolver, folder: string, inside: string): string | null {
  return (
    javaScriptFile(resolver, joinPath(folder, inside)) ?? javaScriptFile(resolver, joinPath(folder, `src/${inside}`))
  );
}

/** Tries `manifest.entries`, also if they name the build output, and then the usual names. */
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
  return fileIn(resolver, [`${path}.py`, `${path}/__init__.py`]);
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

/** Resolves a path of modules, which begins at the crate, at a module near the file, or at another crate. */
function resolveRust(resolver: Resolver, importer: string, specifier: string, names: string[]): ResolvedImport {
  const [start, ...rest] = specifier.split("::");
  const folder = folderOf(importer);
  const moduleFolder = /(?:^|\/)(?:lib|main|mod)\.rs$/.test(importer) ? folder : importer.replace(/\.rs$/, "");
  const own = ancestors(folder).find((candidate) => rustRoot(resolver, candidate) !== null) ?? folder;
  const parts = [...rest, ...names.filter((name) => name !== "*")];
  if (start === "crate") return resolvedFile(rustModule(resolver, own, parts) ?? rustRoot(resolver, own));
  if (start === "super") return resolvedFile(rustModule(resolver, folderOf(moduleFolder), parts));
  if (start === "self" || start === "mod") return resolvedFile(rustModule(resolver, moduleFolder, parts));
  const near = rustModule(resolver, moduleFolder, [start!, ...parts]);
  if (near !== null) return resolvedFile(near);
  const crate = resolver.manifests.find(
    ({ ecosystem, name }) => ecosystem === "Rust" && name.replaceAll("-", "_") === start,
  );
  if (crate) {
    const source = joinPath(crate.folder, "src");
    const root =
      rustRoot(resolver, source) ??
      fileIn(
        resolver,
        crate.entries.map((entry) => joinPath(crate.folder, entry)),
      );
    // `crate` may be the crate of `importer` itself.
    if (root !== null) return resolvedFile(rustModule(resolver, folderOf(root), parts) ?? root);
  }
  const dependency = nearestManifest(resolver.manifests, "Rust", importer)?.dependencies.find(
    ({ name }) => name.replaceAll("-", "_") === start,
  );
  return dependency ? { files: [], external: dependency.name } : UNRESOLVED;
}

function rustRoot(resolver: Resolver, folder: string): string | null {
  return fileIn(resolver, [joinPath(folder, "lib.rs"), joinPath(folder, "main.rs")]);
}

/**
 * Returns the file of the longest beginning of `parts` that is a module, since the last part may name an item in it.
 */
function rustModule(resolver: Resolver, base: string, parts: string[]): string | null {
  for (let length = parts.length; length > 0; length -= 1) {
    const path = joinPath(base, parts.slice(0, length).join("/"));
    const file = fileIn(resolver, [`${path}.rs`, `${path}/mod.rs`]);
    if (file) return file;
  }
  return null;
}

export function nearestManifest(
  manifests: readonly Manifest[],
  ecosystem: Manifest["ecosystem"] | undefined,
  path: string,
): Manifest | undefined {
  const folders = ancestors(folderOf(path));
  return manifests
    .filter((manifest) => manifest.ecosystem === ecosystem && folders.includes(manifest.folder))
    .toSorted((a, b) => b.folder.length - a.folder.length)[0];
}

/** Resolves an include next to `importer`, or else to the only file with a path that ends with it. */
function resolveInclude(resolver: Resolver, importer: string, specifier: string): ResolvedImport {
  const near = joinPath(folderOf(importer), specifier);
  if (resolver.paths.has(near)) return resolvedFile(near);
  const ending = `/${joinPath("", specifier)}`;
  const found = (resolver.byName.get(baseName(specifier)) ?? []).filter((path) => `/${path}`.endsWith(ending));
  return resolvedFile(found.length === 1 ? found[0]! : null);
}

function resolveRuby(resolver: Resolver, importer: string, specifier: string): ResolvedImport {
  const name = specifier.replace(/\.rb$/, "");
  if (name.startsWith("./")) return resolvedFile(fileIn(resolver, [`${joinPath(folderOf(importer), name)}.rb`]));
  const folders = ancestors(folderOf(importer));
  return resolvedFile(
    fileIn(
      resolver,
      folders.flatMap((folder) => [joinPath(folder, `lib/${name}.rb`), joinPath(folder, `${name}.rb`)]),
    ),
  );
}

/** `specifier` is the full name of a type. For a nested type, the file is that of a type around it. */
function resolveType(resolver: Resolver, language: string, specifier: string): ResolvedImport {
  for (let name = specifier; name !== ""; name = name.slice(0, Math.max(0, name.lastIndexOf(".")))) {
    const file = resolver.byType.get(`${language}\0${name}`);
    if (file !== undefined) return resolvedFile(file);
  }
  return UNRESOLVED;
}

function fileIn(resolver: Resolver, candidates: string[]): string | null {
  return candidates.find((candidate) => resolver.paths.has(candidate)) ?? null;
}

function resolvedFile(file: string | null): ResolvedImport {
  return file === null ? UNRESOLVED : { files: [file], external: null };
}
