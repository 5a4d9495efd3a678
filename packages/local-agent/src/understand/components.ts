// Divides a repository into components, one page each. `splitFiles` opens the tree of source folders from the top, the
// largest first, until every part has a readable size or there are `MAX_COMPONENTS`. A package is always a part of its
// own; a folder with very little code stays in its parent.
import { baseName, folderOf, languageOf } from "../read/classify.ts";
import { compareText, type FileRole, type ModuleFacts, type RepositoryFile } from "../read/facts.ts";
import type { Graph } from "./graph.ts";
import type { Manifest } from "../read/manifest.ts";
import { nameComponents } from "./name-components.ts";
import { purposeOf } from "./purpose.ts";
import { ancestors } from "../read/paths.ts";
import { type Resolver } from "./resolve-imports.ts";

export interface Component {
  name: string;
  /** The name of the component's page, without `.md`. */
  slug: string;
  folder: string;
  files: string[];
  /** Like `files`, with a whole folder where the component contains every file of it. */
  scope: string[];
  purpose: string;
  lines: number;
}

/** A folder that may become a component, without the subfolders that are parts of their own. */
export interface ComponentPart {
  folder: string;
  files: string[];
  /** The first word of the file names if `openFlat` divided a folder; "" for its other files; else null. */
  prefix: string | null;
}

type SumLines = (paths: string[]) => number;

const MAX_COMPONENTS = 12;
/** The limit of `maxPieces` for parts that are too long for one page. */
const MAX_WITH_LONG_PARTS = 16;
const LONG_FILES = 40;
const LONG_LINES = 5_000;
/** A part of at most `SMALL_FILES` and `SMALL_LINES` is not opened. */
const SMALL_FILES = 6;
const SMALL_LINES = 800;
/** `openFlat` divides a flat folder with more files by the first words of the file names. */
const FLAT_FILES = 24;

/** Input of `findComponents` and `readProject`. */
export interface CodeFacts {
  files: RepositoryFile[];
  modules: Map<string, ModuleFacts>;
  manifests: Manifest[];
  resolver: Resolver;
  graph: Graph;
  links: Map<string, string>;
  read: (path: string) => string | null;
}

export function findComponents(facts: CodeFacts): Component[] {
  const { modules, manifests } = facts;
  const packages = new Set(manifests.map((manifest) => manifest.folder));
  const files = documentedFiles(facts);
  const sumLines: SumLines = (paths) => paths.reduce((sum, path) => sum + (modules.get(path)?.lines ?? 0), 0);
  const parts = splitFiles(files, packages, sumLines);
  const names = nameComponents(parts, manifests);
  const fileCounts = countByFolder(files);
  const guides = readGuides(facts);
  const components = parts.map((part, index) => ({
    ...names[index]!,
    folder: part.folder,
    files: part.files.toSorted(compareText),
    scope: scopeOf(part, fileCounts),
    purpose: purposeOf(part, facts, guides),
    lines: sumLines(part.files),
  }));
  return components.toSorted((a, b) => compareText(a.folder, b.folder) || compareText(a.name, b.name));
}

/** Reads the documents that may describe the folders: those at the root and in `docs/`. */
function readGuides({ files, read }: CodeFacts): string[] {
  return files
    .filter(({ path, role }) => role === "document" && /^(?:docs?\/)?[^/]+\.(?:md|markdown)$/i.test(path))
    .slice(0, 30)
    .map(({ path }) => (read(path) ?? "").slice(0, 200_000));
}

/**
 * Returns the files of the first role in `roles` that has any, so that a repository without source files gets pages
 * too.
 */
function documentedFiles({ files, modules }: CodeFacts): string[] {
  const paths = files.filter(({ path }) => (modules.get(path)?.lines ?? 0) > 0);
  const byRole = Map.groupBy(paths, ({ role }) => role);
  const roles: FileRole[] = ["source", "example", "config", "test"];
  const documented = roles.map((role) => byRole.get(role)).find((found) => found !== undefined);
  return documented?.map(({ path }) => path) ?? [];
}

function splitFiles(files: string[], packages: Set<string>, sumLines: SumLines): ComponentPart[] {
  if (files.length === 0) return [];
  let parts: ComponentPart[] = [{ folder: commonFolder(files), files, prefix: null }];
  const rank = (part: ComponentPart): number => openingRank(part, packages, sumLines);
  for (;;) {
    const isCrowded = parts.length >= MAX_COMPONENTS;
    const open = (part: ComponentPart): ComponentPart[] =>
      openPart(part, packages, sumLines, maxPieces(part, parts.length, sumLines), isCrowded);
    const [next] = parts
      .map((part) => ({ part, pieces: open(part) }))
      .filter(({ pieces }) => pieces.length > 1)
      .toSorted((a, b) => rank(b.part) - rank(a.part) || compareText(a.part.folder, b.part.folder));
    if (!next) return parts;
    parts = parts.flatMap((part) => (part === next.part ? next.pieces : [part]));
  }
}

function maxPieces(part: ComponentPart, count: number, sumLines: SumLines): number {
  const isLong = part.files.length > LONG_FILES || sumLines(part.files) > LONG_LINES;
  return (isLong && count > MAX_COMPONENTS / 2 ? MAX_WITH_LONG_PARTS : MAX_COMPONENTS) - count + 1;
}

/** A part that `containsPackage` is opened first, then the longest. */
function openingRank(part: ComponentPart, packages: Set<string>, sumLines: SumLines): number {
  return sumLines(part.files) + (containsPackage(part, packages) ? 1e12 : 0);
}

function containsPackage(part: ComponentPart, packages: Set<string>): boolean {
  return part.files.some((path) =>
    ancestors(folderOf(path)).some((folder) => packages.has(folder) && isBelow(folder, part.folder)),
  );
}

/** Divides a part into the subfolders that are `isWorthAPage` and one piece for all other files. */
function openPart(
  part: ComponentPart,
  packages: Set<string>,
  sumLines: SumLines,
  limit: number,
  isCrowded: boolean,
): ComponentPart[] {
  if (part.prefix !== null || limit < 2) return [part];
  const hasPackage = containsPackage(part, packages);
  const isSmall = part.files.length <= SMALL_FILES && sumLines(part.files) <= SMALL_LINES;
  if (isSmall && !hasPackage && !isMixed(part.files)) return [part];
  const subfolders = Map.groupBy(part.files, (path) => childFolder(part.folder, path));
  const hasOwnFiles = subfolders.delete("");
  if (subfolders.size === 0) return openFlat(part, sumLines, limit);
  const isPackage = (folder: string, paths: string[]): boolean =>
    packages.has(folder) || containsPackage({ folder, files: paths, prefix: null }, packages);
  const candidates = [...subfolders]
    .filter(([folder, paths]) => isPackage(folder, paths) || isWorthAPage(paths.length, sumLines(paths), isCrowded))
    .toSorted(
      ([a, x], [b, y]) =>
        Number(isPackage(b, y)) - Number(isPackage(a, x)) || sumLines(y) - sumLines(x) || compareText(a, b),
    );
  const coversAll = candidates.length === subfolders.size && !hasOwnFiles && candidates.length <= limit;
  const folders = candidates.slice(0, coversAll ? limit : limit - 1);
  const otherFiles = part.files.filter((path) => !folders.some(([folder]) => isBelow(path, folder)));
  const pieces = folders.map(([folder, paths]) => ({ folder: deepen(folder, paths), files: paths, prefix: null }));
  return otherFiles.length === 0 ? pieces : [...pieces, { ...part, files: otherFiles }];
}

function isMixed(files: string[]): boolean {
  return new Set(files.map(languageOf)).size > 1;
}

/** A folder with very little code gets no page. If `isCrowded`, only a large folder does. */
function isWorthAPage(files: number, lines: number, isCrowded: boolean): boolean {
  return isCrowded ? files >= 8 || lines >= 800 : files >= 2 || lines >= 60;
}

/** Groups more than `FLAT_FILES` files by the first word of their names. */
function openFlat(part: ComponentPart, sumLines: SumLines, limit: number): ComponentPart[] {
  if (part.files.length <= FLAT_FILES) return [part];
  const groups = [...Map.groupBy(part.files, firstWord)]
    .filter(([prefix, paths]) => prefix !== "" && paths.length >= 4)
    .toSorted(([a, x], [b, y]) => sumLines(y) - sumLines(x) || compareText(a, b))
    .slice(0, limit - 1);
  if (groups.length === 0) return [part];
  const otherFiles = part.files.filter((path) => !groups.some(([prefix]) => prefix === firstWord(path)));
  const pieces = groups.map(([prefix, paths]) => ({ folder: part.folder, files: paths, prefix }));
  return otherFiles.length === 0 ? pieces : [...pieces, { ...part, files: otherFiles, prefix: "" }];
}

function firstWord(path: string): string {
  return /^[a-zA-Z][a-z0-9]+(?=[-_.A-Z])/.exec(baseName(path))?.[0].toLowerCase() ?? "";
}

function deepen(folder: string, paths: string[]): string {
  const common = commonFolder(paths);
  return isBelow(common, folder) || common === folder ? common : folder;
}

function commonFolder(paths: string[]): string {
  const candidates = ancestors(folderOf(paths[0]!));
  return candidates.find((folder) => paths.every((path) => folder === "" || isBelow(path, folder))) ?? "";
}

/** Returns "" for a file that is directly in the folder. */
function childFolder(folder: string, path: string): string {
  const slash = path.indexOf("/", folder === "" ? 0 : folder.length + 1);
  return slash === -1 ? "" : path.slice(0, slash);
}

export function isBelow(path: string, folder: string): boolean {
  return folder === "" ? path !== "" : path.startsWith(`${folder}/`);
}

/** Names whole folders where `part` contains all their documented files, and single files elsewhere. */
function scopeOf(part: ComponentPart, fileCounts: Map<string, number>): string[] {
  const partCounts = countByFolder(part.files);
  const scope = new Set<string>();
  for (const path of part.files) {
    const wholeFolder = ancestors(folderOf(path))
      .filter((folder) => folder !== "" && (folder === part.folder || isBelow(folder, part.folder)))
      .findLast((folder) => partCounts.get(folder) === fileCounts.get(folder));
    scope.add(wholeFolder === undefined ? path : `${wholeFolder}/`);
  }
  return [...scope].toSorted(compareText);
}

function countByFolder(files: string[]): Map<string, number> {
  const counts = new Map<string, number>();
  for (const path of files) {
    for (const folder of ancestors(folderOf(path))) counts.set(folder, (counts.get(folder) ?? 0) + 1);
  }
  return counts;
}
