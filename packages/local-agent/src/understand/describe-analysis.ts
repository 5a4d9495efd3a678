// Describes the analysis as the `data` of the response block `analysis`, for the task planner and for later prompts.
import type { CodeAnalysis } from "./analyse.ts";
import { compareText } from "../read/facts.ts";
import { oneLine, plural } from "../write/markdown.ts";
import { firstSentence } from "../write/prose.ts";
import { factsNote } from "../settings.ts";
import { dependenciesOf } from "./relations.ts";

const OTHER_FOLDER = "The folder docs/ contains files of the user with the same names, or git ignores it.";
const MAX_KEY_FILES = 10;
const MAX_LISTED_FILES = 60;

export function describeAnalysis(analysis: CodeAnalysis, factsId: string | null) {
  const { components, docsFolder } = analysis;
  const lines = components.reduce((sum, component) => sum + component.lines, 0);
  const files = components.reduce((sum, component) => sum + component.files.length, 0);
  return {
    summary: summaryOf(analysis, files, lines),
    recommended_splits: Math.max(1, components.length),
    key_files: keyFiles(analysis),
    estimated_complexity: complexity(lines),
    components: components.map((component) => ({
      name: oneLine(component.name),
      folder: component.folder,
      purpose: firstSentence(component.purpose),
      files: component.files.slice(0, MAX_LISTED_FILES),
      files_total: component.files.length,
      complexity: complexity(component.lines * 4),
      depends_on: dependenciesOf(analysis, component).components.map(({ other }) => oneLine(other.name)),
    })),
    notes: [
      `The pages go to ${docsFolder}/.`,
      ...(docsFolder === (analysis.settings.docsFolder || "docs") ? [] : [OTHER_FOLDER]),
      ...(factsId === null ? [] : [factsNote(factsId)]),
    ].join(" "),
    warnings: [...analysis.cuts, ...analysis.warnings].slice(0, 50),
  };
}

function summaryOf({ project, components, modules, cuts }: CodeAnalysis, files: number, lines: number): string {
  if (components.length === 0) return `${oneLine(project.name)} holds no source code to document.`;
  const languages = new Map<string, number>();
  for (const component of components) {
    for (const path of component.files) {
      const module = modules.get(path)!;
      languages.set(module.language, (languages.get(module.language) ?? 0) + module.lines);
    }
  }
  const mainLanguages = [...languages]
    .toSorted((a, b) => b[1] - a[1] || compareText(a[0], b[0]))
    .slice(0, 3)
    .map(([language]) => language);
  const introduction = firstSentence(project.introduction);
  const size = `${oneLine(project.name)} has ${plural(files, "source file")} (${mainLanguages.join(", ")}, ${plural(lines, "line")}) in ${plural(components.length, "component")}: ${components.map(({ name }) => oneLine(name)).join(", ")}.`;
  return [size, introduction, ...cuts].filter((sentence) => sentence !== "").join(" ");
}

function keyFiles({ project, graph, owners }: CodeAnalysis): string[] {
  const imported = [...owners.keys()]
    .filter((path) => (graph.importers.get(path)?.size ?? 0) > 0)
    .toSorted((a, b) => graph.importers.get(b)!.size - graph.importers.get(a)!.size || compareText(a, b));
  const entries = project.entryPoints.map(({ path }) => path).slice(0, MAX_KEY_FILES / 2);
  return [...new Set([...entries, ...imported])].slice(0, MAX_KEY_FILES);
}

function complexity(lines: number): "low" | "medium" | "high" {
  return lines < 2_000 ? "low" : lines < 20_000 ? "medium" : "high";
}
