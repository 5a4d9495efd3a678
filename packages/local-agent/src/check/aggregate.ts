// `aggregate` combines the merged pages: it removes links to pages that do not exist, writes the overview again,
// removes pages of components that no longer exist, and reports components without a page.
import type { CodeAnalysis } from "../understand/analyse.ts";
import type { Component } from "../understand/components.ts";
import { existsInside, resolveLink } from "./doc-check.ts";
import { baseName, folderOf } from "../read/classify.ts";
import { compareText } from "../read/facts.ts";
import { findExamples } from "../write/examples.ts";
import { codeLines, linksIn, parsePage } from "./parse-page.ts";
import { type InterruptCheck, readText } from "../read/read-repository.ts";
import { removeGenerated, writeGenerated } from "../write/write-file.ts";
import { inlineProse } from "../write/prose.ts";
import { writeArchitecture } from "../write/write-architecture.ts";
import { writeOverview } from "../write/write-overview.ts";
import { writePage } from "../write/write-page.ts";

export interface ReportedOutput {
  outputFiles: string[];
  /** The part of `outputFiles` that the aggregation has corrected. */
  changedFiles: string[];
  conflicts: unknown[];
}

interface AggregationResult {
  outputFiles: string[];
  missing: string[];
  changed: string[];
  removed: string[];
}

export async function aggregate(
  analysis: CodeAnalysis,
  outputs: ReportedOutput[],
  checkInterrupt: InterruptCheck,
): Promise<AggregationResult> {
  const { repository, docsFolder, components } = analysis;
  const { root } = repository;
  const result: AggregationResult = { outputFiles: [], missing: [], changed: [], removed: [] };
  const pageOf = (slug: string): string => `${docsFolder}/${slug}.md`;
  const overview = pageOf("README");
  const architecture = pageOf("architecture");
  const planned = plannedPages(analysis);
  const reported = new Set(outputs.flatMap((output) => output.outputFiles));
  let pages = repository.generated.filter((path) => folderOf(path) === docsFolder);
  const rewrite = async (component: Component, page: string): Promise<void> => {
    const examples = await findExamples(analysis, component, checkInterrupt);
    if (writeGenerated(root, page, writePage({ analysis, component, page, examples }))) result.changed.push(page);
  };

  // Only `reported` distinguishes the page of an added task from a page of an earlier run.
  if (reported.size > 0) {
    result.removed = pages.filter((path) => !planned.has(path) && !reported.has(path));
    for (const path of result.removed) removeGenerated(root, path);
    pages = pages.filter((path) => !result.removed.includes(path));
  }
  // A page that is `reported` but does not exist was lost, so it is written again.
  for (const component of components) {
    const page = pageOf(component.slug);
    if (pages.includes(page) || !reported.has(page)) continue;
    await rewrite(component, page);
    pages = [...pages, page].toSorted(compareText);
  }
  const present = new Set(pages);
  result.missing = components.filter(({ slug }) => !present.has(pageOf(slug))).map(({ name }) => name);

  const titles = new Map([...present].map((path) => [path, parsePage(readText(root, path) ?? "").title]));
  for (const component of components) {
    const page = pageOf(component.slug);
    // The slug of a component may have belonged to another one before, hence `isOther`.
    const isOther = titles.get(page) !== inlineProse(component.name);
    if (present.has(page) && (isOther || hasConflictMarkers(readText(root, page) ?? "")))
      await rewrite(component, page);
  }
  if (present.has(overview)) {
    const text = writeOverview({
      analysis,
      page: overview,
      hasPage: (slug) => present.has(pageOf(slug)),
      otherPages: otherPages(root, pages, planned),
    });
    if (writeGenerated(root, overview, text)) result.changed.push(overview);
  }
  if (present.has(architecture)) {
    const text = writeArchitecture(analysis, architecture, (slug) => present.has(pageOf(slug)));
    if (writeGenerated(root, architecture, text)) result.changed.push(architecture);
  }
  result.changed.push(...(await removeDeadLinks(root, pages, () => true, checkInterrupt)));
  result.outputFiles = pages;
  return result;
}

/** Returns the pages that a complete run writes. */
export function plannedPages({ docsFolder, components }: CodeAnalysis): Set<string> {
  return new Set(
    ["README", "architecture", ...components.map(({ slug }) => slug)].map((slug) => `${docsFolder}/${slug}.md`),
  );
}

/** Returns the pages that are not `planned`, that is, belong to no component of the analysis. */
export function otherPages(root: string, pages: string[], planned: Set<string>): { file: string; title: string }[] {
  return pages
    .filter((path) => !planned.has(path))
    .map((path) => {
      const file = baseName(path);
      return { file, title: parsePage(readText(root, path) ?? "").title || file };
    });
}

function hasConflictMarkers(text: string): boolean {
  return /^<{7} /m.test(text) && /^>{7} /m.test(text);
}

/** Removes links to pages that do not exist if `isMeant` returns true for their paths. Returns the changed pages. */
export async function removeDeadLinks(
  root: string,
  pages: string[],
  isMeant: (path: string) => boolean,
  checkInterrupt: InterruptCheck,
): Promise<string[]> {
  const changed: string[] = [];
  for (const page of pages) {
    await checkInterrupt();
    const text = readText(root, page) ?? "";
    const fixed = withoutDeadLinks(root, page, text, isMeant);
    if (fixed !== text && writeGenerated(root, page, fixed)) changed.push(page);
  }
  return changed;
}

function withoutDeadLinks(root: string, page: string, text: string, isMeant: (path: string) => boolean): string {
  const isCode = codeLines(text);
  const lines = text.split("\n").map((line, index) => {
    let fixed = line;
    for (const { label, target } of isCode[index] ? [] : linksIn(line)) {
      const resolved = /^[^/#:]+\.md$/.test(target) ? resolveLink(page, target) : null;
      if (resolved && isMeant(resolved.path) && !existsInside(root, resolved.path))
        fixed = fixed.replace(`[${label}](${target})`, () => label);
    }
    return fixed;
  });
  return lines.join("\n");
}
