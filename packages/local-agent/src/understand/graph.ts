// `buildGraph` links files by their imports, and `definitionOf` finds the declaration of a name behind re-exports.
import { folderOf } from "../read/classify.ts";
import type { ExportedName, ModuleFacts } from "../read/facts.ts";
import { ancestors } from "../read/paths.ts";
import { resolveImport, type Resolver } from "./resolve-imports.ts";

interface NameUse {
  file: string;
  /** The name in that file: an alias, or `module.name` after a namespace import. */
  local: string;
}

interface ModuleIndex {
  modules: Map<string, ModuleFacts>;
  resolver: Resolver;
}

export interface Graph {
  /** From a file to the files that it imports, each with the imported names. */
  links: Map<string, Map<string, Set<string>>>;
  /** The inverse of `links`. */
  importers: Map<string, Set<string>>;
  packages: Map<string, Set<string>>;
  /** By file and exported name, at most `MAX_USES` per name. */
  uses: Map<string, Map<string, NameUse[]>>;
}

const MAX_USES = 60;

export function buildGraph(index: ModuleIndex): Graph {
  const graph: Graph = { links: new Map(), importers: new Map(), packages: new Map(), uses: new Map() };
  for (const module of index.modules.values()) {
    const reExports = module.reExports.map(({ imported, from }) => ({ from, names: [{ imported, local: "" }] }));
    for (const { from, names } of [...importsOf(module, index.resolver), ...reExports]) {
      const importedNames = names.map((name) => name.imported);
      const resolved = resolveImport(index.resolver, module, from, importedNames);
      if (resolved.external !== null) addTo(graph.packages, module.path, resolved.external);
      for (const target of resolved.files) {
        if (target === module.path) continue;
        const linkedNames = addLink(graph, module.path, target);
        for (const name of names) addName(graph, index, module, target, name, linkedNames);
      }
    }
  }
  return graph;
}

/** A `using` of C# names a namespace; only the types in `mentions` are used of it. */
export function importsOf(module: ModuleFacts, resolver: Resolver): ModuleFacts["imports"] {
  if (module.language !== "C#") return module.imports;
  const mentions = module.mentions.split(" ");
  const global = ancestors(folderOf(module.path)).flatMap((folder) => resolver.globalImports.get(folder) ?? []);
  const namespaces = new Set([...module.imports.map(({ from }) => from), ...global]);
  return [...namespaces].flatMap((from) =>
    mentions
      .filter((name) => resolver.byType.has(`C#\0${from}.${name}`))
      .map((name) => ({ from: `${from}.${name}`, names: [{ imported: name, local: name }] })),
  );
}

function addName(
  graph: Graph,
  index: ModuleIndex,
  user: ModuleFacts,
  target: string,
  { imported, local }: { imported: string; local: string },
  linkedNames: Set<string>,
): void {
  if (imported === "*") {
    if (local === "") return;
    // Members of a namespace import are used as `local.name`. `definitionOf` finds the file that defines each.
    for (const name of exportedNames(index, target).slice(0, 300)) {
      const definition = definitionOf(index, target, name);
      const isWhole = definition?.exported.isDefault ?? false;
      if (definition)
        addUse(graph, definition.path, definition.exported.name, user.path, isWhole ? local : `${local}.${name}`);
    }
    return;
  }
  const definition = definitionOf(index, target, imported);
  if (!definition) return;
  if (definition.path === target) linkedNames.add(definition.exported.name);
  else addLink(graph, user.path, definition.path).add(definition.exported.name);
  if (local !== "") addUse(graph, definition.path, definition.exported.name, user.path, local);
}

/** Follows re-exports to the file that declares a name. */
function definitionOf(
  index: ModuleIndex,
  path: string,
  name: string,
  seen: Set<string> = new Set(),
): { path: string; exported: ExportedName } | null {
  const module = index.modules.get(path);
  if (!module || seen.has(path)) return null;
  // `seen` ends a circle of re-exports.
  seen.add(path);
  const exported = module.exports.find((entry) => (name === "default" ? entry.isDefault : entry.name === name));
  if (exported) return { path, exported };
  for (const reExport of module.reExports) {
    if (reExport.name !== name && reExport.name !== "*") continue;
    const imported = reExport.name === "*" ? name : reExport.imported;
    for (const target of resolveImport(index.resolver, module, reExport.from, [imported]).files) {
      const definition = definitionOf(index, target, imported, seen);
      if (definition) return definition;
    }
  }
  return null;
}

function exportedNames(index: ModuleIndex, path: string, seen: Set<string> = new Set()): string[] {
  const module = index.modules.get(path);
  if (!module || seen.has(path)) return [];
  seen.add(path);
  const names = module.exports.map((entry) => entry.name);
  for (const reExport of module.reExports) {
    if (reExport.name !== "*") names.push(reExport.name);
    else {
      for (const target of resolveImport(index.resolver, module, reExport.from, []).files) {
        names.push(...exportedNames(index, target, seen));
      }
    }
  }
  return [...new Set(names)].slice(0, 1_000);
}

function addLink(graph: Graph, from: string, to: string): Set<string> {
  addTo(graph.importers, to, from);
  let targets = graph.links.get(from);
  if (!targets) graph.links.set(from, (targets = new Map()));
  let names = targets.get(to);
  if (!names) targets.set(to, (names = new Set()));
  return names;
}

function addUse(graph: Graph, path: string, name: string, file: string, local: string): void {
  let byName = graph.uses.get(path);
  if (!byName) graph.uses.set(path, (byName = new Map()));
  const uses = byName.get(name);
  if (!uses) byName.set(name, [{ file, local }]);
  else if (uses.length < MAX_USES && !uses.some((use) => use.file === file && use.local === local))
    uses.push({ file, local });
}

function addTo(map: Map<string, Set<string>>, key: string, value: string): void {
  const known = map.get(key);
  if (known) known.add(value);
  else map.set(key, new Set([value]));
}
