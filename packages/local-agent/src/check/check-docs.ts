// `checkDocs` compares the pages with the code: pages are unique, every component has its own page, every name exists
// at its line, every dependency exists as an import, every link resolves, and no markup of a comment, empty row or
// duplicate is left.
import { lstatSync } from "node:fs";
import { join } from "node:path";
import type { CodeAnalysis } from "../understand/analyse.ts";
import { folderOf } from "../read/classify.ts";
import { countLines } from "../read/facts.ts";
import { findLeftovers } from "./find-leftovers.ts";
import { type ParsedPage, parsePage } from "./parse-page.ts";
import { inlineProse } from "../write/prose.ts";
import { componentEdges } from "../write/write-architecture.ts";
import { passesThroughLink, readText } from "../read/read-repository.ts";
import { joinPath } from "../read/paths.ts";

/**
 * An issue with `isFault` is a statement that the code contradicts or a defect of a page, and makes the run degraded.
 * Another one is a gap in the plan.
 */
interface DocIssue {
  isFault: boolean;
  description: string;
  location: string;
}

interface DocCheck {
  issues: DocIssue[];
  pages: number;
  names: number;
  links: number;
  edges: number;
}

interface CheckContext {
  analysis: CodeAnalysis;
  check: DocCheck;
  read: (path: string) => string | null;
}

/** `reported` holds the pages that the workers claim to have written. */
export function checkDocs(analysis: CodeAnalysis, reported: Set<string>): DocCheck {
  const { docsFolder, components, repository } = analysis;
  const paths = repository.generated.filter((path) => folderOf(path) === docsFolder);
  const check: DocCheck = { issues: [], pages: paths.length, names: 0, links: 0, edges: 0 };
  const texts = new Map<string, string | null>();
  const read = (path: string): string | null => {
    if (!texts.has(path)) texts.set(path, readText(repository.root, path));
    return texts.get(path)!;
  };
  const context: CheckContext = { analysis, check, read };
  const pages = new Map(paths.map((path) => [path, parsePage(read(path) ?? "")]));
  for (const [path, page] of pages) {
    checkNames(context, path, page);
    checkLinks(context, path, page);
    for (const { line, problem } of findLeftovers(read(path) ?? "")) reportFault(check, problem, `${path}:${line}`);
  }
  checkTitles(context, pages);
  checkEdges(context, pages);
  for (const component of components) {
    const path = `${docsFolder}/${component.slug}.md`;
    if (paths.includes(path)) checkCoverage(context, path, component.files);
    else if (reported.has(path))
      reportFault(check, `The component ${component.name} has no page, although its task reported one.`, path);
    else reportGap(check, `The component ${component.name} has no page. Run its task again.`, path);
  }
  const overview = `${docsFolder}/README.md`;
  if (!paths.includes(overview)) reportGap(check, "The overview is missing. Run its task again.", overview);
  return check;
}

function checkTitles({ analysis, check }: CheckContext, pages: Map<string, ParsedPage>): void {
  const names = new Map(
    analysis.components.map(({ slug, name }) => [`${analysis.docsFolder}/${slug}.md`, inlineProse(name)]),
  );
  const titles = new Map<string, string>();
  for (const [path, { title }] of pages) {
    const name = names.get(path);
    if (name !== undefined && name !== title)
      reportFault(check, `The page of ${name} is about ${title || "nothing"}.`, `${path}:1`);
    // The only component of a project may be called like the project, so `isOverview` is exempt.
    const isOverview = path === `${analysis.docsFolder}/README.md`;
    const other = isOverview ? undefined : titles.get(title);
    if (other !== undefined) reportFault(check, `The pages ${other} and ${path} have the same title ${title}.`, path);
    if (!isOverview) titles.set(title, path);
  }
}

/**
 * The diagram has exactly the edges of `componentEdges`, which imports prove; a list of dependencies has only such
 * edges.
 */
function checkEdges({ analysis, check, read }: CheckContext, pages: Map<string, ParsedPage>): void {
  const proven = new Set(componentEdges(analysis).map(({ from, to }) => `${from.slug} ${to.slug}`));
  const path = `${analysis.docsFolder}/architecture.md`;
  if (pages.has(path)) {
    const drawn = new Set(drawnEdges(analysis, read(path) ?? ""));
    check.edges += drawn.size;
    for (const edge of drawn)
      if (!proven.has(edge)) reportFault(check, `No import proves the arrow ${edge.replace(" ", " → ")}.`, path);
    for (const edge of proven)
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

/** Reads the arrows of the diagram. The node `cN` is number N of `components`. */
function drawnEdges({ components }: CodeAnalysis, text: string): string[] {
  const slugOf = (id: string): string => components[Number(id) - 1]?.slug ?? `c${id}`;
  return [...text.matchAll(/^ +c(\d+) --> c(\d+)$/gm)].map(([, from, to]) => `${slugOf(from!)} ${slugOf(to!)}`);
}

/** The section of a name links to the line on which a file of this repository declares it, `exported.line`. */
function checkNames({ analysis, check, read }: CheckContext, path: string, page: ParsedPage): void {
  for (const { name, line, place } of page.names) {
    check.names += 1;
    const location = `${path}:${line}`;
    const target = place === null ? null : resolveLink(path, place);
    const text = target === null ? null : read(target.path);
    const word = name
      .replace(/^module\.exports$/, "exports")
      .split(/::|\./)
      .at(-1)!;
    const exported = analysis.modules.get(target?.path ?? "")?.exports.find((entry) => entry.name === name);
    if (text === null) reportFault(check, `The section of ${name} does not say where it is defined.`, location);
    else if (!text.includes(word)) reportFault(check, `${name} does not exist in ${target!.path}.`, location);
    else if (!exported) reportFault(check, `${target!.path} does not export ${name}.`, location);
    else if (target!.anchor !== `L${exported.line}`)
      reportFault(check, `${name} is declared on line ${exported.line} of ${target!.path}.`, location);
  }
}

function checkLinks({ analysis, check, read }: CheckContext, path: string, page: ParsedPage): void {
  for (const { target, line } of page.links) {
    if (/^https?:/.test(target)) continue;
    check.links += 1;
    const location = `${path}:${line}`;
    const resolved = target.startsWith("#") ? { path, anchor: target.slice(1) } : resolveLink(path, target);
    if (!resolved || !existsInside(analysis.repository.root, resolved.path)) {
      reportFault(check, deadLink(target), location);
      continue;
    }
    if (resolved.anchor === "") continue;
    const lineAnchor = /^L(\d+)$/.exec(resolved.anchor);
    const text = read(resolved.path) ?? "";
    const hasTarget =
      lineAnchor && !resolved.path.endsWith(".md")
        ? Number(lineAnchor[1]) <= countLines(text)
        : parsePage(text).anchors.has(decode(resolved.anchor));
    if (!hasTarget)
      reportFault(check, `The link to ${target} points to a line or heading that does not exist.`, location);
  }
}

/** A page that announces more public names was shortened on purpose, so nothing on it is `missing`. */
function checkCoverage({ analysis, check, read }: CheckContext, path: string, files: string[]): void {
  const text = read(path) ?? "";
  if (/^The files contain \d+ more public names\.$/m.test(text)) return;
  const missing = files
    .flatMap((file) => analysis.modules.get(file)?.exports ?? [])
    .filter((entry) => !text.includes(entry.name))
    .map((entry) => entry.name);
  if (missing.length > 0) {
    const shown = missing.slice(0, 10).join(", ");
    const more = missing.length > 10 ? ` and ${missing.length - 10} more` : "";
    reportGap(check, `The page does not mention ${shown}${more}.`, path);
  }
}

export const deadLink = (target: string): string => `The link to ${target} does not resolve.`;

/** Returns null for a link that leaves the repository. */
export function resolveLink(page: string, target: string): { path: string; anchor: string } | null {
  const [address, anchor = ""] = target.split("#");
  const path = joinPath(folderOf(page), decode(address!));
  return path.includes("\0") ? null : { path, anchor };
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

export function existsInside(root: string, path: string): boolean {
  return !passesThroughLink(root, path) && lstatSync(join(root, path), { throwIfNoEntry: false }) !== undefined;
}

function reportFault({ issues }: DocCheck, description: string, location: string): void {
  issues.push({ isFault: true, description, location });
}

function reportGap({ issues }: DocCheck, description: string, location: string): void {
  issues.push({ isFault: false, description, location });
}
