// The main session's work when all pages are merged: make them one documentation. Links to pages that never came are
// taken out, the index is written anew, pages of components that no longer exist go, and what is left open is said.
import type { CodeAnalysis } from "../understand/analyse.ts";
import { exists, resolve } from "./check-docs.ts";
import { folderOf } from "../read/classify.ts";
import { findExamples } from "../write/examples.ts";
import { codeLines, linksIn, readPage } from "./read-page.ts";
import { type Breathe, readText } from "../read/read-repository.ts";
import { removeGenerated, writeGenerated } from "../write/write-file.ts";
import { writeOverview } from "../write/write-overview.ts";
import { writePage } from "../write/write-page.ts";

export interface ReportedOutput {
  outputFiles: string[];
  conflicts: unknown[];
}

export interface Aggregated {
  outputFiles: string[];
  missing: string[];
  changed: string[];
  removed: string[];
}

export async function aggregate(
  analysis: CodeAnalysis,
  outputs: ReportedOutput[],
  breathe: Breathe,
): Promise<Aggregated> {
  const { repository, docsFolder, components } = analysis;
  const { root } = repository;
  const result: Aggregated = { outputFiles: [], missing: [], changed: [], removed: [] };
  const pageOf = (slug: string): string => `${docsFolder}/${slug}.md`;
  const overview = pageOf("README");
  const planned = new Set([overview, ...components.map(({ slug }) => pageOf(slug))]);
  const reported = new Set(outputs.flatMap((output) => output.outputFiles));
  let pages = repository.generated.filter((path) => folderOf(path) === docsFolder);

  // Without the workers' reports a page of an earlier run looks like one that a person's own task has made.
  if (reported.size > 0) {
    result.removed = pages.filter((path) => !planned.has(path) && !reported.has(path));
    for (const path of result.removed) removeGenerated(root, path);
    pages = pages.filter((path) => !result.removed.includes(path));
  }
  const present = new Set(pages);
  result.missing = components.filter(({ slug }) => !present.has(pageOf(slug))).map(({ name }) => name);

  for (const component of components) {
    const page = pageOf(component.slug);
    if (!present.has(page) || !hasConflictMarks(readText(root, page) ?? "")) continue;
    const examples = await findExamples(analysis, component.files, breathe);
    if (writeGenerated(root, page, writePage({ analysis, component, page, examples }))) result.changed.push(page);
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
  for (const page of pages) {
    await breathe();
    const text = readText(root, page) ?? "";
    const fixed = withoutDeadLinks(root, page, text);
    if (fixed !== text && writeGenerated(root, page, fixed)) result.changed.push(page);
  }
  result.outputFiles = pages;
  return result;
}

/** Pages in the docs folder that belong to no component of the analysis. */
export function otherPages(root: string, pages: string[], planned: Set<string>): { file: string; title: string }[] {
  return pages
    .filter((path) => !planned.has(path))
    .map((path) => {
      const file = path.slice(path.lastIndexOf("/") + 1);
      return { file, title: readPage(readText(root, path) ?? "").title || file };
    });
}

function hasConflictMarks(text: string): boolean {
  return /^<{7} /m.test(text) && /^>{7} /m.test(text);
}

/** Links between pages whose target is missing become their label. */
function withoutDeadLinks(root: string, page: string, text: string): string {
  const isCode = codeLines(text);
  const lines = text.split("\n").map((line, index) => {
    let fixed = line;
    for (const { label, target } of isCode[index] ? [] : linksIn(line)) {
      const resolved = /^[^/#:]+\.md$/.test(target) ? resolve(page, target) : null;
      if (resolved && !exists(root, resolved.path)) fixed = fixed.replace(`[${label}](${target})`, () => label);
    }
    return fixed;
  });
  return lines.join("\n");
}
