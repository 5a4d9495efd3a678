// Which file uses which, and where each imported name is really defined.
import type { Exported, ModuleFacts } from "../read/facts.ts";
import { resolveImport, type Resolver } from "./resolve-imports.ts";

/** One file that uses an exported name. */
export interface Use {
  file: string;
  /** How the file calls it: an alias, or `module.name` after a namespace import. */
  local: string;
}

export interface Graph {
  /** For each file the files it imports from, with the names it takes. */
  links: Map<string, Map<string, Set<string>>>;
  /** For each file the files that import it. */
  importers: Map<string, Set<string>>;
  /** For each file the packages from outside that it imports. */
  packages: Map<string, Set<string>>;
  /** By file and name: who uses it. */
  uses: Map<string, Map<string, Use[]>>;
}

const MAX_USES = 60;

export function buildGraph(modules: Map<string, ModuleFacts>, resolver: Resolver): Graph {
  const graph: Graph = { links: new Map(), importers: new Map(), packages: new Map(), uses: new Map() };
  for (const module of modules.values()) {
    const passedOn = module.reExports.map(({ imported, from }) => ({ from, names: [{ imported, local: "" }] }));
    for (const { from, names } of [...module.imports, ...passedOn]) {
      const resolved = resolveImport(
        resolver,
        module,
        from,
        names.map((name) => name.imported),
      );
      if (resolved.external !== null) addTo(graph.packages, module.path, resolved.external);
      for (const target of resolved.files) {
        if (target === module.path) continue;
        const taken = addLink(graph, module.path, target);
        for (const name of names) addName(graph, modules, resolver, module, target, name, taken);
      }
    }
  }
  return graph;
}

function addName(
  graph: Graph,
  modules: Map<string, ModuleFacts>,
  resolver: Resolver,
  user: ModuleFacts,
  target: string,
  { imported, local }: { imported: string; local: string },
  taken: Set<string>,
): void {
  if (imported === "*") {
    if (local === "") return;
    // The members that a namespace import gives are used as `local.name`, wherever they are defined.
    for (const name of offeredNames(modules, resolver, target).slice(0, 300)) {
      const definition = definitionOf(modules, resolver, target, name);
      const isWhole = definition?.exported.isDefault ?? false;
      if (definition)
        addUse(graph, definition.path, definition.exported.name, user.path, isWhole ? local : `${local}.${name}`);
    }
    return;
  }
  const definition = definitionOf(modules, resolver, target, imported);
  if (!definition) return;
  if (definition.path === target) taken.add(definition.exported.name);
  else addLink(graph, user.path, definition.path).add(definition.exported.name);
  if (local !== "") addUse(graph, definition.path, definition.exported.name, user.path, local);
}

/** Follows re-exports to the file that declares a name. */
export function definitionOf(
  modules: Map<string, ModuleFacts>,
  resolver: Resolver,
  path: string,
  name: string,
  seen: Set<string> = new Set(),
): { path: string; exported: Exported } | null {
  const module = modules.get(path);
  if (!module || seen.has(path)) return null;
  // Files can pass names on in a circle.
  seen.add(path);
  const own = module.exports.find((entry) => (name === "default" ? entry.isDefault : entry.name === name));
  if (own) return { path, exported: own };
  for (const passed of module.reExports) {
    if (passed.name !== name && passed.name !== "*") continue;
    const wanted = passed.name === "*" ? name : passed.imported;
    for (const target of resolveImport(resolver, module, passed.from, [wanted]).files) {
      const definition = definitionOf(modules, resolver, target, wanted, seen);
      if (definition) return definition;
    }
  }
  return null;
}

function offeredNames(
  modules: Map<string, ModuleFacts>,
  resolver: Resolver,
  path: string,
  seen: Set<string> = new Set(),
): string[] {
  const module = modules.get(path);
  if (!module || seen.has(path)) return [];
  seen.add(path);
  const names = module.exports.map((entry) => entry.name);
  for (const passed of module.reExports) {
    if (passed.name !== "*") names.push(passed.name);
    else {
      for (const target of resolveImport(resolver, module, passed.from, []).files) {
        names.push(...offeredNames(modules, resolver, target, seen));
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
