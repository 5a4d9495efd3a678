// The parts of a repository that get a page each. Folders decide: the tree of source folders is opened from the top,
// the largest first, until the parts are of a size one can read, and never into more than twelve. A package is always
// a part of its own; a folder with next to nothing in it stays with the one above it.
import { baseName, folderOf, languageOf } from "../read/classify.ts";
import { byText, type ModuleFacts, type FileRole } from "../read/facts.ts";
import type { Graph } from "./graph.ts";
import type { Manifest } from "../read/manifests.ts";
import { nameComponents } from "./name-components.ts";
import { purposeOf } from "./purpose.ts";
import { ancestors, type Resolver } from "./resolve-imports.ts";

export interface Component {
  name: string;
  /** The name of its page, without `.md`. */
  slug: string;
  folder: string;
  /** Sorted; all of them source files. */
  files: string[];
  /** The files as a person would name them: whole folders where the component has everything in them. */
  scope: string[];
  purpose: string;
  lines: number;
}

/** A folder that may become a component, with what is left of it when some of its folders are taken out. */
export interface ComponentPart {
  folder: string;
  files: string[];
  /** What tells parts of one flat folder apart: the first word of their files' names. */
  prefix: string | null;
}

const MAX_COMPONENTS = 12;
/** Parts too long for one page may be opened even when there are enough components, up to this number. */
const MAX_WITH_LONG_PARTS = 16;
const LONG_FILES = 40;
const LONG_LINES = 5_000;
/** A part this small is read as a whole. */
const SMALL_FILES = 6;
const SMALL_LINES = 800;
/** A flat folder with more files is divided by the first words of their names. */
const FLAT_FILES = 24;

export function findComponents(
  modules: Map<string, ModuleFacts>,
  roles: Map<string, FileRole>,
  manifests: Manifest[],
  resolver: Resolver,
  graph: Graph,
  read: (path: string) => string | null,
): Component[] {
  const packages = new Set(manifests.map((manifest) => manifest.folder));
  const files = documentedFiles(modules, roles);
  const parts = split(files, packages, (path) => modules.get(path)?.lines ?? 0);
  const names = nameComponents(parts, manifests);
  const inFolder = countByFolder(files);
  const documents = guides(roles, read);
  const components = parts.map((part, index) => ({
    ...names[index]!,
    folder: part.folder,
    files: part.files.toSorted(byText),
    scope: scopeOf(part, inFolder),
    purpose: purposeOf(part, modules, manifests, resolver, graph, documents, read),
    lines: part.files.reduce((sum, path) => sum + (modules.get(path)?.lines ?? 0), 0),
  }));
  return components.toSorted((a, b) => byText(a.folder, b.folder) || byText(a.name, b.name));
}

/** The documents that may describe the folders: those at the root and in docs/. */
function guides(roles: Map<string, FileRole>, read: (path: string) => string | null): string[] {
  return [...roles]
    .filter(([path, role]) => role === "document" && /^(?:docs?\/)?[^/]+\.(?:md|markdown)$/i.test(path))
    .slice(0, 30)
    .map(([path]) => (read(path) ?? "").slice(0, 200_000));
}

/** Source files; in a repository that has none, whatever code there is. */
function documentedFiles(modules: Map<string, ModuleFacts>, roles: Map<string, FileRole>): string[] {
  for (const role of ["source", "example", "config", "test"] satisfies FileRole[]) {
    const files = [...modules.keys()].filter((path) => roles.get(path) === role && modules.get(path)!.lines > 0);
    if (files.length > 0) return files;
  }
  return [];
}

function split(files: string[], packages: Set<string>, linesOf: (path: string) => number): ComponentPart[] {
  if (files.length === 0) return [];
  let parts: ComponentPart[] = [{ folder: commonFolder(files), files, prefix: null }];
  for (;;) {
    const opened = parts
      .map((part) => ({
        part,
        pieces: open(part, packages, linesOf, roomFor(part, parts.length, linesOf), parts.length >= MAX_COMPONENTS),
      }))
      .filter(({ pieces }) => pieces.length > 1)
      .toSorted(
        (a, b) =>
          urgency(b.part, packages, linesOf) - urgency(a.part, packages, linesOf) ||
          byText(a.part.folder, b.part.folder),
      );
    const [next] = opened;
    if (!next) return parts;
    parts = parts.flatMap((part) => (part === next.part ? next.pieces : [part]));
  }
}

/** Into how many pieces a part may be opened. */
function roomFor(part: ComponentPart, count: number, linesOf: (path: string) => number): number {
  const lines = part.files.reduce((sum, path) => sum + linesOf(path), 0);
  const isLong = part.files.length > LONG_FILES || lines > LONG_LINES;
  return (isLong && count > MAX_COMPONENTS / 2 ? MAX_WITH_LONG_PARTS : MAX_COMPONENTS) - count + 1;
}

/** Parts that hold packages are opened first, then the longest. */
function urgency(part: ComponentPart, packages: Set<string>, linesOf: (path: string) => number): number {
  const lines = part.files.reduce((sum, path) => sum + linesOf(path), 0);
  return holdsPackages(part, packages) ? lines + 1e12 : lines;
}

function holdsPackages(part: ComponentPart, packages: Set<string>): boolean {
  return part.files.some((path) =>
    ancestors(folderOf(path)).some((folder) => packages.has(folder) && isBelow(folder, part.folder)),
  );
}

/** The pieces of a part: its larger folders, and one piece for what is left. */
function open(
  part: ComponentPart,
  packages: Set<string>,
  linesOf: (path: string) => number,
  room: number,
  isCrowded: boolean,
): ComponentPart[] {
  if (part.prefix !== null || room < 2) return [part];
  const hasPackages = holdsPackages(part, packages);
  const lines = part.files.reduce((sum, path) => sum + linesOf(path), 0);
  const isSmall = part.files.length <= SMALL_FILES && lines <= SMALL_LINES;
  if (isSmall && !hasPackages && !isMixed(part.files)) return [part];
  const below = new Map<string, string[]>();
  const left: string[] = [];
  for (const path of part.files) {
    const child = childFolder(part.folder, path);
    if (child === null) left.push(path);
    else if (below.has(child)) below.get(child)!.push(path);
    else below.set(child, [path]);
  }
  if (below.size === 0) return openFlat(part, linesOf, room);
  const weigh = (paths: string[]): number => paths.reduce((sum, path) => sum + linesOf(path), 0);
  const isPackage = (folder: string, paths: string[]): boolean =>
    packages.has(folder) || holdsPackages({ folder, files: paths, prefix: null }, packages);
  const candidates = [...below]
    .filter(([folder, paths]) => isPackage(folder, paths) || isWorthAPage(paths.length, weigh(paths), isCrowded))
    .toSorted(
      ([a, x], [b, y]) => Number(isPackage(b, y)) - Number(isPackage(a, x)) || weigh(y) - weigh(x) || byText(a, b),
    );
  const leavesNothing = candidates.length === below.size && left.length === 0 && candidates.length <= room;
  const fits = leavesNothing ? room : room - 1;
  const taken = candidates.slice(0, fits);
  const rest = part.files.filter((path) => !taken.some(([folder]) => isBelow(path, folder)));
  const pieces = taken.map(([folder, paths]) => ({ folder: deepen(folder, paths), files: paths, prefix: null }));
  return rest.length === 0 ? pieces : [...pieces, { ...part, files: rest }];
}

/** Whether the files are of more than one language, where one page would be two. */
function isMixed(files: string[]): boolean {
  return new Set(files.map(languageOf)).size > 1;
}

/** A folder with next to nothing in it is none; when there are many components already, only a large one is. */
function isWorthAPage(files: number, lines: number, isCrowded: boolean): boolean {
  return isCrowded ? files >= 8 || lines >= 800 : files >= 2 || lines >= 60;
}

/** In a long flat folder, files whose names begin with the same word belong together. */
function openFlat(part: ComponentPart, linesOf: (path: string) => number, room: number): ComponentPart[] {
  if (part.files.length <= FLAT_FILES) return [part];
  const byPrefix = Map.groupBy(part.files, firstWord);
  const weigh = (paths: string[]): number => paths.reduce((sum, path) => sum + linesOf(path), 0);
  const taken = [...byPrefix]
    .filter(([prefix, paths]) => prefix !== "" && paths.length >= 4)
    .toSorted(([a, x], [b, y]) => weigh(y) - weigh(x) || byText(a, b))
    .slice(0, room - 1);
  if (taken.length === 0) return [part];
  const rest = part.files.filter((path) => !taken.some(([prefix]) => prefix === firstWord(path)));
  const pieces = taken.map(([prefix, paths]) => ({ folder: part.folder, files: paths, prefix }));
  return rest.length === 0 ? pieces : [...pieces, { ...part, files: rest, prefix: "" }];
}

function firstWord(path: string): string {
  return /^[a-zA-Z][a-z0-9]+(?=[-_.A-Z])/.exec(baseName(path))?.[0].toLowerCase() ?? "";
}

/** A folder that holds nothing but one other folder is that folder. */
function deepen(folder: string, paths: string[]): string {
  const common = commonFolder(paths);
  return isBelow(common, folder) || common === folder ? common : folder;
}

function commonFolder(paths: string[]): string {
  const candidates = ancestors(folderOf(paths[0]!));
  return candidates.find((folder) => paths.every((path) => folder === "" || isBelow(path, folder))) ?? "";
}

function childFolder(folder: string, path: string): string | null {
  const inside = folder === "" ? path : path.slice(folder.length + 1);
  const slash = inside.indexOf("/");
  return slash === -1 ? null : folder === "" ? inside.slice(0, slash) : `${folder}/${inside.slice(0, slash)}`;
}

export function isBelow(path: string, folder: string): boolean {
  return folder === "" ? path !== "" : path.startsWith(`${folder}/`);
}

/** Whole folders where the component has all documented files in them, single files elsewhere. */
function scopeOf(part: ComponentPart, inFolder: Map<string, number>): string[] {
  const own = countByFolder(part.files);
  const scope = new Set<string>();
  for (const path of part.files) {
    const whole = ancestors(folderOf(path))
      .filter((folder) => folder !== "" && (folder === part.folder || isBelow(folder, part.folder)))
      .findLast((folder) => own.get(folder) === inFolder.get(folder));
    scope.add(whole === undefined ? path : `${whole}/`);
  }
  return [...scope].toSorted(byText);
}

/** How many of the files are in each folder, at any depth. */
function countByFolder(files: string[]): Map<string, number> {
  const counts = new Map<string, number>();
  for (const path of files) {
    for (const folder of ancestors(folderOf(path))) counts.set(folder, (counts.get(folder) ?? 0) + 1);
  }
  return counts;
}
