// `checkDocs` compares the pages with the code: pages are unique, every component has its own page, every name exists
// at its line, every example is quoted, every dependency exists as an import, the overview agrees with the README and the
// manifests, every link resolves, and no markup of a comment, empty row or duplicate is left.
import type { CodeAnalysis } from "../understand/analyse.ts";
import { checkEdges } from "./check-edges.ts";
import { checkExamples, checkNames } from "./check-names.ts";
import { checkOverview } from "./check-overview.ts";
import { folderOf } from "../read/classify.ts";
import { countLines } from "../read/facts.ts";
import {
  type CheckContext,
  decodeAddress,
  type DocCheck,
  existsInside,
  reportFault,
  reportGap,
  resolveLink,
} from "./doc-check.ts";
import { findLeftovers } from "./find-leftovers.ts";
import { type ParsedPage, parsePage } from "./parse-page.ts";
import { inlineProse } from "../write/prose.ts";
import { readText } from "../read/read-repository.ts";

/** `reported` holds the pages that the workers claim to have written. */
export function checkDocs(analysis: CodeAnalysis, reported: Set<string>): DocCheck {
  const { docsFolder, components, repository } = analysis;
  const paths = repository.generated.filter((path) => folderOf(path) === docsFolder);
  const check: DocCheck = { issues: [], pages: paths.length, names: 0, examples: 0, links: 0, edges: 0 };
  const texts = new Map<string, string | null>();
  const read = (path: string): string | null => {
    if (!texts.has(path)) texts.set(path, readText(repository.root, path));
    return texts.get(path)!;
  };
  const context: CheckContext = { analysis, check, read };
  const pages = new Map(paths.map((path) => [path, parsePage(read(path) ?? "")]));
  for (const [path, page] of pages) {
    checkNames(context, path, page);
    checkExamples(context, path, page);
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
  for (const sentence of analysis.cuts) reportGap(check, sentence, overview);
  if (pages.has(overview)) checkOverview(context, overview, pages.get(overview)!);
  else reportGap(check, "The overview is missing. Run its task again.", overview);
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
        : parsePage(text).anchors.has(decodeAddress(resolved.anchor));
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
