// Checks the pages against the code: every name exists, every component has a page, every link resolves, and every line
// or heading that a link points to exists.
import { lstatSync } from "node:fs";
import { join } from "node:path";
import type { CodeAnalysis } from "../understand/analyse.ts";
import { folderOf } from "../read/classify.ts";
import { countLines } from "../read/facts.ts";
import { type ParsedPage, parsePage } from "./parse-page.ts";
import { passesThroughLink, readText } from "../read/read-repository.ts";
import { joinPath } from "../understand/resolve-imports.ts";

interface DocIssue {
  severity: "error" | "warning" | "info";
  description: string;
  location: string;
  suggested_fix?: string;
}

interface DocCheck {
  issues: DocIssue[];
  pages: number;
  names: number;
  links: number;
}

interface CheckContext {
  analysis: CodeAnalysis;
  check: DocCheck;
  read: (path: string) => string | null;
}

export function checkDocs(analysis: CodeAnalysis): DocCheck {
  const { docsFolder, components, repository } = analysis;
  const paths = repository.generated.filter((path) => folderOf(path) === docsFolder);
  const check: DocCheck = { issues: [], pages: paths.length, names: 0, links: 0 };
  const texts = new Map<string, string | null>();
  const read = (path: string): string | null => {
    if (!texts.has(path)) texts.set(path, readText(repository.root, path));
    return texts.get(path)!;
  };
  const context = { analysis, check, read };
  const overview = `${docsFolder}/README.md`;
  for (const path of paths) {
    const page = parsePage(read(path) ?? "");
    checkNames(context, path, page);
    checkLinks(context, path, page);
  }
  for (const component of components) {
    const path = `${docsFolder}/${component.slug}.md`;
    if (paths.includes(path)) checkCoverage(context, path, component.files);
    else report(check, "warning", `The component ${component.name} has no page.`, path, "Run its task again.");
  }
  if (!paths.includes(overview))
    report(check, "warning", "The overview is missing.", overview, "Run the overview's task again.");
  return check;
}

/** The section of a name must point to a file of this repository that exports the name. */
function checkNames({ analysis, check, read }: CheckContext, path: string, page: ParsedPage): void {
  for (const { name, line, place } of page.names) {
    check.names += 1;
    const location = `${path}:${line}`;
    const target = place === null ? null : resolveLink(path, place);
    const text = target === null ? null : read(target.path);
    const word = name.replace(/^module\.exports$/, "exports");
    if (text === null) report(check, "error", `The section of ${name} does not say where it is defined.`, location);
    else if (!text.includes(word)) report(check, "error", `${name} does not exist in ${target!.path}.`, location);
    else if (!analysis.modules.get(target!.path)?.exports.some((entry) => entry.name === name)) {
      report(check, "error", `${target!.path} does not export ${name}.`, location);
    }
  }
}

function checkLinks({ analysis, check, read }: CheckContext, path: string, page: ParsedPage): void {
  for (const { target, line } of page.links) {
    if (/^https?:/.test(target)) continue;
    check.links += 1;
    const location = `${path}:${line}`;
    const resolved = target.startsWith("#") ? { path, anchor: target.slice(1) } : resolveLink(path, target);
    if (!resolved || !existsInside(analysis.repository.root, resolved.path)) {
      report(check, "error", `The link to ${target} does not resolve.`, location);
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
      report(check, "error", `The link to ${target} points to a line or heading that does not exist.`, location);
  }
}

/** The page must mention every exported name of the component's files. */
function checkCoverage({ analysis, check, read }: CheckContext, path: string, files: string[]): void {
  const text = read(path) ?? "";
  const missing = files
    .flatMap((file) => analysis.modules.get(file)?.exports ?? [])
    .filter((entry) => !text.includes(entry.name))
    .map((entry) => entry.name);
  if (missing.length > 0) {
    report(
      check,
      "warning",
      `The page does not mention ${missing.slice(0, 10).join(", ")}${missing.length > 10 ? ` and ${missing.length - 10} more` : ""}.`,
      path,
    );
  }
}

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

function report(
  check: DocCheck,
  severity: DocIssue["severity"],
  description: string,
  location: string,
  fix?: string,
): void {
  check.issues.push({ severity, description, location, ...(fix === undefined ? {} : { suggested_fix: fix }) });
}
