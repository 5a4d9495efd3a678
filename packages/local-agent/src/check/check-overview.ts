// `checkOverview` compares the overview with the README, the manifests and the files as they are on disk.
import { baseName, folderOf } from "../read/classify.ts";
import { type CheckContext, reportFault, resolveLink } from "./doc-check.ts";
import { declaresDependency, hasCommand } from "./manifest-text.ts";
import { linksIn, type ParsedPage } from "./parse-page.ts";
import { isNews } from "../write/introduction.ts";

type Report = (problem: string, line: number) => void;

export function checkOverview(context: CheckContext, path: string, page: ParsedPage): void {
  const report: Report = (problem, line) => reportFault(context.check, problem, `${path}:${line}`);
  checkProject(context, page, report);
  checkCommands(context, page, report);
  checkEntryPoints(context, path, page, report);
  checkDependencies(context, page, report);
}

/** The name and the purpose must be words of the README or of the manifest that describes the project. */
function checkProject({ analysis, read }: CheckContext, page: ParsedPage, report: Report): void {
  const { repository, manifests, project, settings } = analysis;
  const atRoot = manifests.filter(({ folder }) => folder === "");
  const main = atRoot.length > 0 ? atRoot : manifests.length === 1 ? manifests : [];
  // The settings of Gradle are beside its manifest and have the name.
  const beside = repository.files.filter(({ path }) => /^settings\.gradle(?:\.kts)?$/.test(path));
  const sources = [project.readme, ...main.map(({ path }) => path), ...beside.map(({ path }) => path)]
    .flatMap((path) => (path === null ? [] : [`${baseName(path)} ${read(path) ?? ""}`]))
    .concat(settings.projectName, "This repository");
  const isKnown = (words: string): boolean =>
    sources.some((source) =>
      [source, source.replaceAll(/<[^>]*>/g, "")].some((text) => letters(text).includes(letters(words))),
    );
  if (!isKnown(page.title)) report(`Neither the README nor a manifest calls the project ${page.title}.`, 2);
  for (const { text, line } of page.sections.get("")!) {
    if (line === 1 || /^(?:Written for |See also the project's )/.test(text)) continue;
    if (isNews(text)) report("The description of the project is news.", line);
    else if (!isKnown(text.replace(/\s*…$/, "")))
      report("Neither the README nor a manifest has the description of the project.", line);
  }
}

/** Markup differs between a README and a page, letters and digits do not. Targets of links and entities are removed. */
function letters(text: string): string {
  return text
    .replaceAll(/\]\([^)]*\)|&\w+;|:\w+:`/g, "")
    .replaceAll(/[^\p{L}\p{N}]/gu, "")
    .toLowerCase();
}

function checkCommands({ analysis, read }: CheckContext, page: ParsedPage, report: Report): void {
  const names = analysis.repository.files.filter(({ path }) => !path.includes("/")).map(({ path }) => path);
  for (const { cells, line } of rowsOf(page, "How to start")) {
    const command = codeIn(cells[0] ?? "");
    if (command !== null && !hasCommand(command, names, read))
      report(`No file of the project defines the command ${command}.`, line);
  }
}

function checkEntryPoints({ analysis, read }: CheckContext, path: string, page: ParsedPage, report: Report): void {
  for (const { text, line } of page.sections.get("Entry points") ?? []) {
    const target = linksIn(text)[0]?.target;
    const file = target === undefined ? null : resolveLink(path, target)?.path;
    const code = file === null || file === undefined ? null : read(file);
    if (code === null) report("An entry point is no file of the repository.", line);
    else if (text.includes("), started as a program") && !startsProgram(file!, code))
      report(`${file} is not started as a program.`, line);
    const owner = /\), entry of (`+.+?`+)/.exec(text)?.[1];
    const name = owner === undefined ? null : codeIn(owner);
    if (
      name !== null &&
      !analysis.manifests.some(
        (manifest) =>
          baseName(manifest.folder) === name ||
          (read(manifest.path) ?? "").includes(name) ||
          baseName(manifest.path).startsWith(name),
      )
    )
      report(`No manifest is called ${name}.`, line);
  }
}

/** `#![…]` is an attribute of Rust, and a script that only defines functions is sourced. */
function startsProgram(path: string, code: string): boolean {
  if (/\.(?:sh|bash|zsh)$/.test(path)) {
    const body = code.replaceAll(/^(?:function\s+)?[\w:-]+\s*(?:\(\s*\))?\s*\{[\s\S]*?^\}/gm, "");
    return code.startsWith("#!") && /^\s*(?![\s#]|[\w]+=\S*\s*$|(?:set|shopt|export|readonly|alias)\b)\S/m.test(body);
  }
  return /^#!(?!\[)/.test(code) || /\b[mM]ain\s*(?:\(|=)|__name__\s*==|\bmain!/.test(code);
}

function checkDependencies({ analysis, read }: CheckContext, page: ParsedPage, report: Report): void {
  // A dependency of a Cargo workspace has its version in the manifest at the root.
  const texts = analysis.manifests.map(({ path }) => ({ path, text: read(path) ?? "" }));
  const check = (name: string, version: string, line: number): void => {
    const isDeclared = texts.some(({ path, text }) => declaresDependency(path, text, name, ""));
    const hasVersion =
      version === "" ||
      texts.some(({ path, text }) => declaresDependency(path, text, name, version)) ||
      texts.some(({ path, text }) => folderOf(path) === "" && text.includes(version));
    if (!isDeclared) report(`No manifest declares the dependency ${name}.`, line);
    else if (!hasVersion) report(`No manifest declares version ${version} of ${name}.`, line);
  };
  for (const { cells, line } of rowsOf(page, "Dependencies"))
    check(codeIn(cells[0] ?? "") ?? "", codeIn(cells[1] ?? "") ?? "", line);
  for (const { text, line } of page.sections.get("Dependencies") ?? []) {
    if (text.startsWith("|")) continue;
    for (const [, name] of text.matchAll(/`([^`]+)`/g)) check(name!, "", line);
  }
}

/** The rows of the tables in a section, without their heads. */
function rowsOf(page: ParsedPage, section: string): { cells: string[]; line: number }[] {
  const lines = (page.sections.get(section) ?? []).filter(({ text }) => text.startsWith("| "));
  return lines.slice(2).map(({ text, line }) => ({
    line,
    cells: text
      .slice(2, -2)
      .split(" | ")
      .map((cell) => cell.replaceAll("\\|", "|").trim()),
  }));
}

function codeIn(cell: string): string | null {
  return /^(`+) ?(.*?) ?\1$/.exec(cell)?.[2] ?? null;
}
