import type { CodeAnalysis } from "../understand/analyse.ts";
import { baseName } from "../read/classify.ts";
import type { Component } from "../understand/components.ts";
import { compareText } from "../read/facts.ts";
import { code, fileLink, link, plural, table } from "./markdown.ts";
import { MARKER } from "../read/marker.ts";
import { firstSentence, inlineProse, prose } from "./prose.ts";
import { componentLink, hasArchitecture } from "./write-architecture.ts";
import { dependenciesOf } from "../understand/relations.ts";

const MAX_ROWS = 40;

interface OtherPage {
  file: string;
  title: string;
}

interface OverviewRequest {
  analysis: CodeAnalysis;
  page: string;
  hasPage: (slug: string) => boolean;
  /** Pages of tasks that the user added to the plan, which belong to none of the `components`. */
  otherPages: OtherPage[];
}

export function writeOverview(request: OverviewRequest): string {
  const { analysis, page } = request;
  const { project } = analysis;
  const blocks = [
    MARKER,
    `# ${inlineProse(project.name)}`,
    prose(project.introduction),
    analysis.settings.audience === "" ? "" : `Written for ${inlineProse(analysis.settings.audience)}.`,
    project.readme === null ? "" : `See also the project's ${fileLink(page, project.readme)}.`,
    ...commandsSection(analysis),
    ...componentsSection(request),
    ...omissionsSection(analysis),
    ...entryPointsSection(request),
    ...dependenciesSection(request),
    ...documentsSection(request),
  ];
  return `${blocks.filter((block) => block !== "").join("\n\n")}\n`;
}

function commandsSection({ project }: CodeAnalysis): string[] {
  const rows = project.commands.slice(0, MAX_ROWS).map(({ command, meaning }) => [code(command), inlineProse(meaning)]);
  return rows.length === 0 ? [] : ["## How to start", table(["Command", "Effect"], rows)];
}

function componentsSection({ analysis, hasPage, otherPages }: OverviewRequest): string[] {
  if (analysis.components.length === 0) {
    return [
      "## Components",
      "The repository holds no source code that the agent can read, so there are no components.",
    ];
  }
  const rows = analysis.components.map((component) => {
    const needs = dependenciesOf(analysis, component).components.map(({ other }) => componentLink(other, hasPage));
    return [
      componentLink(component, hasPage) + (hasPage(component.slug) ? "" : " (no page)"),
      inlineProse(firstSentence(component.purpose)) || mainNames(analysis, component),
      String(component.files.length),
      needs.join(", "),
    ];
  });
  const total = analysis.components.reduce((sum, component) => sum + component.lines, 0);
  const files = analysis.components.reduce((sum, component) => sum + component.files.length, 0);
  const tests = analysis.repository.files.filter(({ role }) => role === "test").length;
  const size = `${plural(files, "source file")} with ${plural(total, "line")}${tests > 0 ? `, and ${plural(tests, "test file")}` : ""}.`;
  const others = otherPages
    .map(({ file, title }) => `- ${link(inlineProse(title), encodeURIComponent(file))}`)
    .join("\n");
  return [
    "## Components",
    size,
    table(["Component", "Purpose", "Files", "Depends on"], rows),
    ...(hasArchitecture(analysis) ? [`The ${link("architecture", "architecture.md")} shows them in a diagram.`] : []),
    ...(others === "" ? [] : ["Further pages:", others]),
  ];
}

/** Describes a component without a known `purpose` by its most used names, and by the comment of the first of them. */
function mainNames(analysis: CodeAnalysis, component: Component): string {
  const isOutside = (file: string): boolean => analysis.owners.get(file) !== component;
  const names = component.files.flatMap((path) =>
    (analysis.modules.get(path)?.exports ?? []).map(({ name, doc }) => ({
      name,
      doc: firstSentence(doc, 120),
      uses: (analysis.graph.uses.get(path)?.get(name) ?? []).filter((use) => isOutside(use.file)).length,
    })),
  );
  const most = names.toSorted(
    (a, b) => b.uses - a.uses || Number(b.doc !== "") - Number(a.doc !== "") || compareText(a.name, b.name),
  );
  const [first] = most;
  if (first && first.doc !== "") return `${code(first.name)}: ${inlineProse(first.doc)}`;
  const unique = [...new Set(most.map(({ name }) => name))].slice(0, 3);
  return unique.length > 0
    ? unique.map(code).join(", ")
    : component.files
        .slice(0, 3)
        .map((path) => code(baseName(path)))
        .join(", ");
}

/** No page describes what was not read, so the overview says that it is missing. */
function omissionsSection({ cuts, repository }: CodeAnalysis): string[] {
  const sentences = [...cuts, ...repository.warnings];
  const more = sentences.length > MAX_ROWS ? [`- and ${sentences.length - MAX_ROWS} more`] : [];
  const items = sentences.slice(0, MAX_ROWS).map((sentence) => `- ${inlineProse(sentence)}`);
  return sentences.length === 0 ? [] : ["## Not documented", [...items, ...more].join("\n")];
}

function entryPointsSection({ analysis, page }: OverviewRequest): string[] {
  const rows = analysis.project.entryPoints.slice(0, MAX_ROWS).map(({ path, reason }) => {
    const header = inlineProse(firstSentence(analysis.modules.get(path)?.header ?? ""));
    return `- ${fileLink(page, path)}, ${reason}${header === "" ? "" : `. ${header}`}`;
  });
  return rows.length === 0 ? [] : ["## Entry points", rows.join("\n")];
}

function dependenciesSection({ analysis, hasPage }: OverviewRequest): string[] {
  const ownPackages = new Set(analysis.manifests.flatMap(({ name, id }) => [name, id ?? name]));
  const versions = new Map<string, string>();
  const development = new Set<string>();
  for (const dependency of analysis.manifests.flatMap((manifest) => manifest.dependencies)) {
    if (ownPackages.has(dependency.name)) continue;
    if (dependency.isForDevelopment) development.add(dependency.name);
    else if (!versions.has(dependency.name)) versions.set(dependency.name, dependency.version);
  }
  const rows = [...versions]
    .toSorted(([a], [b]) => compareText(a, b))
    .slice(0, MAX_ROWS)
    .map(([name, version]) => {
      const users = analysis.components
        .filter((component) =>
          dependenciesOf(analysis, component).packages.some((used) => used === name || used.startsWith(`${name}/`)),
        )
        .map((component) => componentLink(component, hasPage));
      return [code(name), version === "" ? "" : code(version), users.join(", ")];
    });
  const known = rows.filter(([, version, users]) => version !== "" || users !== "");
  const others = rows.filter((row) => !known.includes(row)).map(([name]) => name!);
  const tools = [...development]
    .filter((name) => !versions.has(name))
    .toSorted(compareText)
    .slice(0, MAX_ROWS);
  if (rows.length === 0 && tools.length === 0) return [];
  return [
    "## Dependencies",
    ...(known.length > 0 ? [table(["Package", "Version", "Used by"], known)] : []),
    ...(others.length > 0 ? [`${known.length > 0 ? "Also " : ""}${others.join(", ")}.`] : []),
    ...(tools.length > 0 ? [`For development: ${tools.map(code).join(", ")}.`] : []),
  ];
}

function documentsSection({ analysis, page }: OverviewRequest): string[] {
  const { documents: paths } = analysis.project;
  if (paths.length === 0) return [];
  const more = paths.length > MAX_ROWS ? [`- and ${paths.length - MAX_ROWS} more`] : [];
  return [
    "## Other documents",
    [...paths.slice(0, MAX_ROWS).map((path) => `- ${fileLink(page, path)}`), ...more].join("\n"),
  ];
}
