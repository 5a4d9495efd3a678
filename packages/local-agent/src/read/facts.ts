// The vocabulary of the local agent: what it knows about a file once the text has been read and let go. Facts are
// small, so that a repository of thousands of files fits in memory; texts are read again where they are quoted.

/** What a file is for. Only `source` files are documented; the others are quoted, read for facts or left alone. */
export type FileRole = "source" | "test" | "example" | "fixture" | "config" | "document" | "other";

export interface RepositoryFile {
  /** Relative to the root, with forward slashes. */
  path: string;
  sizeBytes: number;
  role: FileRole;
}

export type Kind = "function" | "class" | "constant" | "type" | "interface" | "enum" | "namespace" | "value";

export interface ClassMember {
  name: string;
  signature: string;
  doc: string;
  line: number;
}

/** One name that a file offers to others. */
export interface Exported {
  name: string;
  kind: Kind;
  line: number;
  /** The declaration as it stands in the code, without its body. */
  signature: string;
  /** The comment in front of the declaration, without its comment signs. */
  doc: string;
  members: ClassMember[];
  isDefault: boolean;
}

/** `export { imported as name } from "from"`; both names are `*` when everything is passed on. */
export interface ReExport {
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

export interface Import {
  from: string;
  names: ImportedName[];
}

export interface HttpRoute {
  method: string;
  path: string;
  line: number;
}

export interface ModuleFacts {
  path: string;
  language: string;
  lines: number;
  /** The comment at the top of the file, if it speaks about the file. */
  header: string;
  exports: Exported[];
  reExports: ReExport[];
  imports: Import[];
  routes: HttpRoute[];
  /** Whether the file itself says that it is started as a program. */
  isProgram: boolean;
}

export function emptyFacts(path: string, language: string, text: string): ModuleFacts {
  return {
    path,
    language,
    lines: countLines(text),
    header: "",
    exports: [],
    reExports: [],
    imports: [],
    routes: [],
    isProgram: text.startsWith("#!"),
  };
}

export function countLines(text: string): number {
  if (text === "") return 0;
  let lines = text.endsWith("\n") ? 0 : 1;
  for (let at = text.indexOf("\n"); at !== -1; at = text.indexOf("\n", at + 1)) lines += 1;
  return lines;
}

/** Orders by code unit, so that the result does not depend on the language of the machine. */
export function byText(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

/** Several declarations of one name, such as overloads or a value and a type, are one entry with all signatures. */
export function mergeSameNames(exports: Exported[]): Exported[] {
  const merged = new Map<string, Exported>();
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
