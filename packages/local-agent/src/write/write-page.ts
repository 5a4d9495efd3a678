import type { CodeAnalysis } from "../understand/analyse.ts";
import { fenceLanguageOf } from "../read/classify.ts";
import type { Component } from "../understand/components.ts";
import { countNames, type ExportedName, type ModuleFacts, NAMES_OF_FILE } from "../read/facts.ts";
import { excerpt } from "../languages/quote.ts";
import { type Example, exampleKey } from "./examples.ts";
import { addressFrom, anchorOf, code, fence, fileLink, link, placeLink, plural, table } from "./markdown.ts";
import { MARKER } from "../read/marker.ts";
import { hasRoomForSections, MAX_PAGE_LINES } from "./page-limits.ts";
import { firstParagraph, firstSentence, inlineProse, prose } from "./prose.ts";
import { dependenciesOf, usersOf } from "../understand/relations.ts";
import { renderDoc } from "./render-doc.ts";
import { resolveImport } from "../understand/resolve-imports.ts";

/** The limits of the `table` form. */
const MAX_ROWS = 400;

/**
 * The first form with at most `MAX_PAGE_LINES` is written: `full` has a section per name, `short` has sections without
 * examples and members, `table` has a row per name.
 */
type PageDetail = "full" | "short" | "table";

interface PageRequest {
  analysis: CodeAnalysis;
  component: Component;
  /** The path of the page from the root. */
  page: string;
  examples: Map<string, Example>;
}

export function writePage(request: PageRequest): string {
  const { analysis, component } = request;
  const modules = component.files.map((path) => analysis.modules.get(path)).filter((module) => module !== undefined);
  let text = "";
  const details: PageDetail[] = hasRoomForSections(analysis, component) ? ["full", "short", "table"] : ["table"];
  for (const detail of details) {
    text = renderPage(request, modules, detail);
    if (text.split("\n").length <= MAX_PAGE_LINES) break;
  }
  return text;
}

function renderPage(request: PageRequest, modules: ModuleFacts[], detail: PageDetail): string {
  const { component } = request;
  const exporting = modules.filter(exportsNames);
  const isTable = detail === "table";
  const anchors = anchorsOf(component, modules, isTable);
  const blocks = [
    MARKER,
    `# ${inlineProse(component.name)}`,
    prose(component.purpose),
    `${link("All components", "README.md")} · ${describeSize(component, modules)}`,
    ...filesSection(request, modules, anchors),
    ...routesSection(request, modules),
    ...(exporting.length > 0 ? ["## Reference"] : []),
    ...(isTable
      ? [namesTable(request, exporting)]
      : exporting.flatMap((module) => fileSection(request, module, detail === "full"))),
    ...relationSections(request),
  ];
  return `${blocks.filter((block) => block !== "").join("\n\n")}\n`;
}

/** Lists the names of all files in at most `MAX_ROWS` rows. */
function namesTable({ page }: PageRequest, modules: ModuleFacts[]): string {
  // Each of `modules` has at least one name, so the first `MAX_ROWS` fill all rows.
  const first = modules.filter(({ exports }) => exports.length > 0).slice(0, MAX_ROWS);
  const rows = first.flatMap((module) =>
    module.exports
      .slice(0, NAMES_OF_FILE)
      .map((entry) => [
        link(code(entry.name), addressFrom(page, module.path, entry.line)),
        code(entry.signature.split("\n")[0]!.slice(0, 120)),
        inlineProse(firstSentence(entry.doc)),
      ]),
  );
  const shown = rows.slice(0, MAX_ROWS);
  const total = modules.reduce((sum, module) => sum + countNames(module), 0);
  const rest = total > shown.length ? `\n\nThe files contain ${total - shown.length} more public names.` : "";
  return table(["Name", "Signature", "Purpose"], shown) + rest;
}

function exportsNames(module: ModuleFacts): boolean {
  return module.exports.length + module.reExports.length > 0;
}

function describeSize(component: Component, modules: ModuleFacts[]): string {
  const languages = [...new Set(modules.map((module) => module.language))].join(", ");
  const place = component.folder === "" ? "at the root" : `in ${code(`${component.folder}/`)}`;
  return `${plural(component.files.length, "file")} ${place}, ${plural(component.lines, "line")} of ${languages}`;
}

/** Returns the anchors of all sections. Like GitHub, `next` numbers equal headings. */
function anchorsOf(component: Component, modules: ModuleFacts[], isTable: boolean): Map<string, string> {
  const counts = new Map<string, number>();
  const anchors = new Map<string, string>();
  const next = (heading: string): string => {
    const anchor = anchorOf(heading);
    const count = counts.get(anchor) ?? 0;
    counts.set(anchor, count + 1);
    return count === 0 ? anchor : `${anchor}-${count}`;
  };
  const hasRoutes = modules.some((module) => module.routes.length > 0);
  for (const heading of [component.name, "Files", ...(hasRoutes ? ["Routes"] : []), "Reference"]) next(heading);
  for (const module of isTable ? [] : modules.filter(exportsNames)) {
    const anchor = next(sectionTitle(component, module.path));
    anchors.set(module.path, anchor);
    for (const entry of module.exports) anchors.set(exampleKey(module.path, entry.name), next(entry.name));
  }
  return anchors;
}

function sectionTitle(component: Component, path: string): string {
  return component.folder === "" ? path : path.slice(component.folder.length + 1);
}

/** A file without a known purpose and without `exports` is only listed. */
function filesSection(request: PageRequest, modules: ModuleFacts[], anchors: Map<string, string>): string[] {
  const { component, page } = request;
  const rows = modules.slice(0, MAX_ROWS).map((module) => {
    const names = module.exports.slice(0, 8).map((entry) => {
      const anchor = anchors.get(exampleKey(module.path, entry.name));
      return anchor === undefined || anchor === "" ? code(entry.name) : link(code(entry.name), `#${anchor}`);
    });
    const isBarrel = module.exports.length === 0 && module.reExports.length > 0;
    const more = countNames(module) > 8 ? [`and ${countNames(module) - 8} more`] : [];
    const purpose = inlineProse(firstSentence(module.header)) || (isBarrel ? "Re-exports names of other files." : "");
    const condition = module.condition === "" ? "" : ` (only if ${code(module.condition)})`;
    return [
      fileLink(page, module.path, sectionTitle(component, module.path)),
      `${purpose}${condition}`.trim(),
      [...names, ...more].join(", "),
    ];
  });
  const known = rows.filter(([, purpose, names]) => purpose !== "" || names !== "");
  const others = rows.filter((row) => !known.includes(row)).map(([file]) => file!);
  const rest = modules.length - rows.length;
  return [
    "## Files",
    known.length === 0 ? "" : table(["File", "Purpose", "Exports"], known),
    others.length === 0 ? "" : `${known.length === 0 ? "" : "Without public names: "}${others.join(", ")}.`,
    rest > 0 ? `And ${rest} more files.` : "",
  ];
}

function routesSection({ page }: PageRequest, modules: ModuleFacts[]): string[] {
  const rows = modules.flatMap((module) =>
    module.routes.map((route) => [route.method, code(route.path), placeLink(page, module.path, route.line)]),
  );
  return rows.length === 0 ? [] : ["## Routes", table(["Method", "Path", "Defined at"], rows)];
}

function fileSection(request: PageRequest, module: ModuleFacts, isFull: boolean): string[] {
  const { component } = request;
  const repeatsPurpose = firstParagraph(module.header) === component.purpose;
  const header = repeatsPurpose ? module.header.slice(component.purpose.length) : module.header;
  return [
    `### ${code(sectionTitle(component, module.path))}`,
    renderDoc(header, module.language),
    reExportList(request, module),
    ...module.exports.flatMap((entry) => nameSection(request, module, entry, isFull)),
  ];
}

function nameSection(
  { page, examples }: PageRequest,
  module: ModuleFacts,
  entry: ExportedName,
  isFull: boolean,
): string[] {
  const example = isFull ? examples.get(exampleKey(module.path, entry.name)) : undefined;
  const doc = isFull ? renderDoc(entry.doc, module.language) : inlineProse(firstSentence(entry.doc));
  const notes = isFull ? memberNotes(entry) : "";
  const variants = (entry.variants ?? []).map(
    ({ path, line, condition }) =>
      `${placeLink(page, path, line)}${condition === "" ? "" : ` (only if ${code(condition)})`}`,
  );
  return [
    `#### ${code(entry.name)}`,
    fence(isFull ? outline(entry, module.language) : excerpt(entry.signature, 6), fenceLanguageOf(module.path)),
    doc,
    /(?:^|\n)(?:- | {2,}).*$/.test(doc) && notes !== "" ? `Members:\n\n${notes}` : notes,
    `Defined at ${placeLink(page, module.path, entry.line)}${entry.isDefault ? ", the default export" : ""}.`,
    variants.length === 0 ? "" : `Other variants: ${variants.join(", ")}.`,
    ...(example
      ? [`Used like this in ${placeLink(page, example.path, example.line)}:`, fence(example.code, example.language)]
      : []),
  ];
}

function outline(entry: ExportedName, language: string): string {
  const indented = (indent: string): string =>
    entry.members
      .map((member) =>
        member.signature
          .split("\n")
          .map((line) => indent + line)
          .join("\n"),
      )
      .join("\n");
  if (entry.members.length === 0) return entry.signature;
  if (/^(?:TypeScript|JavaScript)$/.test(language)) return `${entry.signature} {\n${indented("  ")}\n}`;
  if (language === "Python") return `${entry.signature}:\n${indented("    ")}`;
  return `${entry.signature}\n\n${indented("")}`;
}

function memberNotes(entry: ExportedName): string {
  return entry.members
    .map((member) => ({ member, words: firstSentence(member.doc) }))
    .filter(({ words }) => words !== "")
    .map(({ member, words }) => `- ${code(member.name)}: ${inlineProse(words)}`)
    .join("\n");
}

function reExportList({ analysis, page }: PageRequest, module: ModuleFacts): string {
  const bySource = Map.groupBy(module.reExports, (entry) => entry.from);
  const lines = [...bySource].map(([from, entries]) => {
    const [target = null] = resolveImport(analysis.resolver, module, from, []).files;
    const source = target === null ? code(from) : fileLink(page, target);
    const names = entries.map(({ name, imported }) => {
      if (name === "*") return "all names";
      return imported === name || imported === "*" ? code(name) : `${code(name)} (originally ${code(imported)})`;
    });
    return `- ${names.join(", ")} from ${source}`;
  });
  return lines.length === 0 ? "" : `Re-exports:\n\n${lines.join("\n")}`;
}

function relationSections({ analysis, component }: PageRequest): string[] {
  const item = ({ other, names }: { other: Component; names: string[] }): string => {
    const shown = names.slice(0, 12).map(code);
    const rest = names.length > 12 ? [`and ${names.length - 12} more`] : [];
    return `- ${link(inlineProse(other.name), `${other.slug}.md`)}${shown.length > 0 ? `: ${[...shown, ...rest].join(", ")}` : ""}`;
  };
  const { components, packages } = dependenciesOf(analysis, component);
  const users = usersOf(analysis, component);
  const dependencies = [
    ...components.map(item),
    ...(packages.length > 0 ? [`- external packages: ${packages.map(code).join(", ")}`] : []),
  ];
  return [
    ...(dependencies.length > 0 ? ["## Depends on", dependencies.join("\n")] : []),
    ...(users.length > 0 ? ["## Used by", users.map(item).join("\n")] : []),
  ];
}
