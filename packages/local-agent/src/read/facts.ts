// `ModuleFacts` are small, so that a repository of thousands of files fits in memory. The texts are not kept: a file
// that is quoted is read again.

/** Only `source` files are documented. The others are quoted, read for facts or ignored. */
export type FileRole = "source" | "test" | "example" | "fixture" | "config" | "document" | "other";

export interface RepositoryFile {
  /** Relative to the root, with forward slashes. */
  path: string;
  sizeBytes: number;
  /** Changes with the content of the file. */
  stamp: string;
  role: FileRole;
}

export type DeclarationKind = "function" | "class" | "constant" | "type" | "interface" | "enum" | "namespace" | "value";

export interface ClassMember {
  name: string;
  signature: string;
  doc: string;
  line: number;
}

export interface ExportedName {
  name: string;
  kind: DeclarationKind;
  line: number;
  /** The source text of the declaration without its body. */
  signature: string;
  /** The text of the comment above the declaration, without comment markers. */
  doc: string;
  members: ClassMember[];
  isDefault: boolean;
  /** Declarations of the same name in files that are compiled under other conditions. */
  variants?: { path: string; line: number; condition: string }[];
}

/** `export { imported as name } from "from"`. Both names are `*` for `export *`. */
interface ReExport {
  name: string;
  imported: string;
  from: string;
  line: number;
}

export interface ImportedName {
  /** The exported name, `default`, or `*` for the whole module. */
  imported: string;
  local: string;
}

interface ModuleImport {
  from: string;
  names: ImportedName[];
  /** A `global using` of C#, which counts for all files at and below the folder of this one. */
  isGlobal?: true;
}

interface HttpRoute {
  method: string;
  path: string;
  line: number;
}

export interface ModuleFacts {
  path: string;
  language: string;
  lines: number;
  /** The comment at the top of the file, unless it documents a declaration or is a licence. */
  header: string;
  exports: ExportedName[];
  /** The number of further exported names, which are not kept; see `keepFirstNames`. */
  moreNames: number;
  reExports: ReExport[];
  imports: ModuleImport[];
  routes: HttpRoute[];
  /** Whether the code shows that the file is a program, for example by `#!` or a `main` function. */
  isProgram: boolean;
  namespace: string;
  /** The condition under which the file is compiled, for example a build tag of Go. */
  condition: string;
  /** The capitalised words of a file of C#, separated by spaces: the types of imported namespaces that it may use. */
  mentions: string;
  /** Public methods that are declared outside their type, which may be in another file. */
  ownedMembers: (ClassMember & { owner: string })[];
}

export function emptyFacts(path: string, language: string, text: string): ModuleFacts {
  return {
    path,
    language,
    lines: countLines(text),
    header: "",
    exports: [],
    moreNames: 0,
    reExports: [],
    imports: [],
    routes: [],
    // Rust writes attributes as `#![…]`.
    isProgram: /^#!(?!\[)/.test(text),
    namespace: "",
    condition: "",
    mentions: "",
    ownedMembers: [],
  };
}

/** A page with more names has no section for each of them, but a table with `NAMES_OF_FILE` of each file. */
export const MAX_SECTIONS = 187;
export const NAMES_OF_FILE = 12;

/**
 * Removes from `facts.exports` the names that no page shows: a C header may define thousands, and a repository may have
 * thousands of headers, which would fill the memory. Does nothing for up to `most` names. Do not call it for a language
 * with imports that name declarations, because `exports` resolves them.
 */
export function keepFirstNames(facts: ModuleFacts, most: number): void {
  if (facts.exports.length <= most) return;
  facts.moreNames += facts.exports.length - NAMES_OF_FILE;
  facts.exports.length = NAMES_OF_FILE;
}

export const countNames = ({ exports, moreNames }: ModuleFacts): number => exports.length + moreNames;

export function countLines(text: string): number {
  if (text === "") return 0;
  let lines = text.endsWith("\n") ? 0 : 1;
  for (let at = text.indexOf("\n"); at !== -1; at = text.indexOf("\n", at + 1)) lines += 1;
  return lines;
}

/** Compares code units, so that the order does not depend on the locale of the machine. */
export function compareText(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

/** Merges declarations of the same name, such as overloads or a value and a type, into one entry with all signatures. */
export function mergeSameNames(exports: ExportedName[]): ExportedName[] {
  const merged = new Map<string, ExportedName>();
  for (const entry of exports) {
    const known = merged.get(entry.name);
    if (!known) {
      merged.set(entry.name, { ...entry });
      continue;
    }
    if (!known.signature.split("\n\n").includes(entry.signature)) known.signature += `\n\n${entry.signature}`;
    known.doc ||= entry.doc;
    known.members = [...known.members, ...entry.members];
    known.isDefault ||= entry.isDefault;
  }
  return [...merged.values()];
}
