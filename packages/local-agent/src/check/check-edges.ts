// `checkEdges` compares the arrows of the diagram and the lists of dependencies with imports in the text of the files.
import type { CodeAnalysis } from "../understand/analyse.ts";
import { folderOf } from "../read/classify.ts";
import { ancestors } from "../read/paths.ts";
import { type CheckContext, containsWord, reportFault } from "./doc-check.ts";
import { mentionsFile } from "./find-import.ts";
import type { ParsedPage } from "./parse-page.ts";
import { type ComponentEdge, componentEdges } from "../write/write-architecture.ts";

/** The diagram has exactly the edges of the code; a list of dependencies has only such edges. */
export function checkEdges(context: CheckContext, pages: Map<string, ParsedPage>): void {
  const { analysis, check, read } = context;
  const edges = componentEdges(analysis);
  const proven = new Set(edges.filter((edge) => isProven(context, edge)).map(keyOf));
  const path = `${analysis.docsFolder}/architecture.md`;
  if (pages.has(path)) {
    const drawn = new Set(drawnEdges(analysis, read(path) ?? ""));
    check.edges += drawn.size;
    for (const edge of drawn)
      if (!proven.has(edge)) reportFault(check, `No import proves the arrow ${edge.replace(" ", " → ")}.`, path);
    for (const edge of edges.map(keyOf))
      if (!drawn.has(edge)) reportFault(check, `The arrow ${edge.replace(" ", " → ")} is missing.`, path);
  }
  for (const { slug } of analysis.components) {
    const page = `${analysis.docsFolder}/${slug}.md`;
    for (const { section, target, line } of pages.get(page)?.sectionLinks ?? []) {
      const other = target.replace(/\.md$/, "");
      const edge = section === "Depends on" ? `${slug} ${other}` : section === "Used by" ? `${other} ${slug}` : null;
      if (edge !== null && target.endsWith(".md") && !proven.has(edge))
        reportFault(check, `No import proves that ${edge.replace(" ", " depends on ")}.`, `${page}:${line}`);
    }
  }
}

const keyOf = ({ from, to }: ComponentEdge): string => `${from.slug} ${to.slug}`;

function isProven({ analysis, read }: CheckContext, { importer, imported, isDirect }: ComponentEdge): boolean {
  const text = read(importer);
  const target = read(imported);
  if (text === null || target === null) return false;
  const names = [...(analysis.graph.links.get(importer)?.get(imported) ?? [])];
  if (!isDirect) return names.some((name) => containsWord(text, name) && containsWord(target, name));
  const folders = ancestors(folderOf(imported));
  const language = analysis.modules.get(importer)?.language ?? "";
  const packages = analysis.manifests.filter(({ folder }) => folders.includes(folder)).map(({ name }) => name);
  return ["", ...packages].some((name) =>
    mentionsFile({ path: importer, language, text }, { path: imported, text: target }, name),
  );
}

/** Reads the arrows of the diagram. The node `cN` is number N of `components`. */
function drawnEdges({ components }: CodeAnalysis, text: string): string[] {
  const slugOf = (id: string): string => components[Number(id) - 1]?.slug ?? `c${id}`;
  return [...text.matchAll(/^ +c(\d+) --> c(\d+)$/gm)].map(([, from, to]) => `${slugOf(from!)} ${slugOf(to!)}`);
}
