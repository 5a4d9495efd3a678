// `writeArchitecture` draws a diagram of the components and lists one row per dependency, with an import that proves
// it.
import type { CodeAnalysis } from "../understand/analyse.ts";
import type { Component } from "../understand/components.ts";
import { languageOf } from "../read/classify.ts";
import { compareText } from "../read/facts.ts";
import { MARKER } from "../read/marker.ts";
import { fence, fileLink, link, oneLine, table } from "./markdown.ts";
import { inlineProse } from "./prose.ts";
import { importsOf } from "../understand/graph.ts";
import { resolveImport } from "../understand/resolve-imports.ts";

export interface ComponentEdge {
  from: Component;
  to: Component;
  /** A file of `from`, and the file of `to` that it imports. */
  importer: string;
  imported: string;
  /** False if `importer` gets names of `imported` only through files that re-export them. */
  isDirect: boolean;
  /** Counts the files of `from` that import a file of `to`, `importer` included. */
  importers: number;
}

export function componentEdges(analysis: CodeAnalysis): ComponentEdge[] {
  const { components, graph, owners } = analysis;
  const edges = new Map<string, ComponentEdge>();
  const importers = new Map<string, Set<string>>();
  for (const from of components) {
    for (const importer of from.files) {
      for (const imported of [...(graph.links.get(importer)?.keys() ?? [])].toSorted(compareText)) {
        const to = owners.get(imported);
        if (!to || to.slug === from.slug) continue;
        const key = `${from.slug}\0${to.slug}`;
        const files = importers.get(key) ?? new Set<string>();
        importers.set(key, files.add(importer));
        const known = edges.get(key);
        const edge = known?.isDirect
          ? known
          : { from, to, importer, imported, isDirect: isDirectImport(analysis, importer, imported) };
        edges.set(key, { ...(known && !edge.isDirect ? known : edge), importers: files.size });
      }
    }
  }
  return [...edges.values()];
}

function isDirectImport({ modules, resolver }: CodeAnalysis, importer: string, imported: string): boolean {
  const module = modules.get(importer)!;
  return [
    ...importsOf(module, resolver),
    ...module.reExports.map(({ from, imported: name }) => ({ from, names: [{ imported: name }] })),
  ].some(({ from, names }) =>
    resolveImport(
      resolver,
      module,
      from,
      names.map((name) => name.imported),
    ).files.includes(imported),
  );
}

export function hasArchitecture({ components }: CodeAnalysis): boolean {
  return components.length > 1;
}

export function componentLink({ name, slug }: Component, hasPage: (slug: string) => boolean): string {
  return hasPage(slug) ? link(inlineProse(name), `${slug}.md`) : inlineProse(name);
}

export function writeArchitecture(analysis: CodeAnalysis, page: string, hasPage: (slug: string) => boolean): string {
  const { components, project } = analysis;
  const edges = componentEdges(analysis);
  const ids = new Map(components.map(({ slug }, index) => [slug, `c${index + 1}`]));
  const diagram = [
    "flowchart LR",
    ...components.map(({ slug, name }) => `  ${ids.get(slug)}["${label(name)}"]`),
    ...edges.map(({ from, to }) => `  ${ids.get(from.slug)} --> ${ids.get(to.slug)}`),
  ];
  const rows = edges.map(({ from, to, importer, imported, isDirect, importers }) => [
    componentLink(from, hasPage),
    componentLink(to, hasPage),
    `${fileLink(page, importer)} ${isDirect ? verbOf(importer) : "uses names of"} ${fileLink(page, imported)}${othersToo(importers - 1)}`,
  ]);
  const blocks = [
    MARKER,
    "# Architecture",
    `The components of ${inlineProse(project.name)}. An arrow from one to another means that the code of the first imports code of the second. ${link("All pages", "README.md")}`,
    fence(diagram.join("\n"), "mermaid"),
    ...(rows.length === 0
      ? ["No component imports another one."]
      : ["## Dependencies", table(["Component", "Depends on", "Proof"], rows)]),
  ];
  return `${blocks.join("\n\n")}\n`;
}

/** A file of Go imports a package of several files, and a file of C# imports namespaces. */
function verbOf(importer: string): string {
  const language = languageOf(importer);
  return language === "Go" ? "imports the package of" : language === "C#" ? "uses" : "imports";
}

function othersToo(count: number): string {
  return count === 0 ? "" : count === 1 ? ", and so does 1 more file" : `, and so do ${count} more files`;
}

/** Mermaid reads a few characters of a label as syntax. */
function label(name: string): string {
  return oneLine(name)
    .replaceAll("#", "#35;")
    .replaceAll('"', "#quot;")
    .replaceAll("<", "#lt;")
    .replaceAll("`", "#96;");
}
