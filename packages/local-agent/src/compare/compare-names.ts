// `compareNames` finds the names that one task removed or declared anew and that another task, which ran without that
// change, uses in lines that it wrote. A use counts only if an import, a package or a namespace leads to the changed
// file. An import may name a package of the same repository, which its manifest declares.
import { baseName, extensionOf, folderOf, isJavaScript, languageOf } from "../read/classify.ts";
import { compareText, type ImportedName, type ModuleFacts } from "../read/facts.ts";
import { joinPath } from "../read/paths.ts";
import type { Manifest } from "../read/manifest.ts";
import { readManifests } from "../read/manifests.ts";
import { readModule } from "../languages/read-module.ts";
import { parseCode, type SyntaxNode } from "../languages/syntax.ts";
import { makeResolver, nearestManifest, resolveImport } from "../understand/resolve-imports.ts";

export interface ComparedFile {
  path: string;
  /** The text at the start of the task; null if the file did not exist. */
  before: string | null;
  /** The text in the result of the task; null if the task deleted the file. */
  after: string | null;
}

export interface TaskWork {
  task: string;
  files: ComparedFile[];
}

/** A `package.json`, `pyproject.toml`, `go.mod` or `Cargo.toml` above a changed file. */
export interface PackageFile {
  path: string;
  text: string;
}

export interface NameUse {
  /** A member of a type has the form `Type.member`. */
  name: string;
  change: "removed" | "changed";
  /** The task that changed the name, and the file that declared it. */
  task: string;
  file: string;
  usedBy: string;
  usedIn: string;
  line: number;
}

interface ChangedName extends Pick<NameUse, "name" | "change" | "task" | "file"> {
  declared: ModuleFacts;
}

const MAX_USES = 100;
const CONSTRUCTORS = new Set(["constructor", "__init__", "__construct", "initialize"]);
/** Files of these languages import every foreign name, so a use without an import is about another name. */
const NAMES_IMPORTS = /^(?:TypeScript|JavaScript|Python|Rust)$/;
const NAME = /identifier$|^(?:constant|name|word)$/;

export async function compareNames(
  works: readonly TaskWork[],
  packages: readonly PackageFile[] = [],
): Promise<NameUse[]> {
  const texts = new Map(packages.map(({ path, text }) => [path, text]));
  const files = packages.map(({ path, text }) => ({
    path,
    sizeBytes: text.length,
    stamp: "",
    role: "config" as const,
  }));
  const manifests = readManifests(files, (path) => texts.get(path) ?? null).filter(
    ({ name, ecosystem }) => name !== "" || ecosystem === "Python",
  );
  const changed = (await Promise.all(works.map(changedNames))).flat();
  const found: NameUse[] = [];
  for (const work of works) {
    const others = changed.filter(({ task }) => task !== work.task);
    for (const file of others.length === 0 ? [] : work.files)
      found.push(...(await usesIn(file, work.task, others, manifests)));
  }
  const key = ({ task, file, name, usedBy, usedIn }: NameUse): string => [task, file, name, usedBy, usedIn].join("\0");
  return found.toSorted((a, b) => compareText(key(a), key(b))).slice(0, MAX_USES);
}

async function changedNames({ task, files }: TaskWork): Promise<ChangedName[]> {
  const changed: ChangedName[] = [];
  for (const { path, before, after } of files) {
    if (before === null) continue;
    const declared = await read(path, before);
    const now = after === null ? new Map<string, string>() : declarations(await read(path, after));
    for (const [name, signature] of declarations(declared)) {
      const change = !now.has(name) ? "removed" : now.get(name) === signature ? null : "changed";
      // `isNamedAbove`: the removal of a type covers its members.
      const isNamedAbove = change === "removed" && name.includes(".") && !now.has(name.slice(0, name.indexOf(".")));
      if (change !== null && !isNamedAbove) changed.push({ name, change, task, file: path, declared });
    }
  }
  return changed;
}

const read = (path: string, text: string): Promise<ModuleFacts> => readModule(path, languageOf(path) ?? "", text);

/**
 * Maps exported names, and members as `Type.member`, to their signatures. `CONSTRUCTORS` count as their type; overloads
 * are joined.
 */
function declarations({ exports, ownedMembers }: ModuleFacts): Map<string, string> {
  const found = new Map<string, string>();
  const add = (name: string, signature: string): void => {
    found.set(name, `${found.get(name) ?? ""}\n${signature.replaceAll(/\s+/g, " ")}`);
  };
  for (const { name, signature, members } of exports) {
    add(name, signature);
    for (const member of members)
      add(CONSTRUCTORS.has(member.name) ? name : `${name}.${member.name}`, member.signature);
  }
  for (const { owner, name, signature } of ownedMembers) add(`${owner}.${name}`, signature);
  return found;
}

async function usesIn(
  file: ComparedFile,
  task: string,
  changed: readonly ChangedName[],
  manifests: readonly Manifest[],
): Promise<NameUse[]> {
  const { path, before, after } = file;
  if (after === null) return [];
  const named = changed.filter(
    (each) => each.file !== path && familyOf(each.file) === familyOf(path) && after.includes(memberOf(each.name)),
  );
  if (named.length === 0) return [];
  const user = await read(path, after);
  const parsed = await parseCode(path, after);
  if (parsed === null) return [];
  try {
    const known = new Set((before ?? "").split("\n").map((line) => line.trim()));
    return named.flatMap(({ declared, ...about }) => {
      const [owner = ""] = about.name.split(".");
      const local = localName(user, declared, owner, manifests);
      if (local === null) return [];
      const isMember = about.name !== owner;
      if (isMember && !after.includes(local)) return [];
      const line = findLine(after, parsed.root, isMember ? memberOf(about.name) : local, known);
      return line === null ? [] : [{ ...about, usedBy: task, usedIn: path, line }];
    });
  } finally {
    parsed.release();
  }
}

const memberOf = (name: string): string => name.slice(name.lastIndexOf(".") + 1);

/** TypeScript can import JavaScript, and C++ can include C; other languages only use files of their own. */
function familyOf(path: string): string {
  if (isJavaScript(path)) return "JavaScript";
  const language = languageOf(path) ?? extensionOf(path);
  return language === "C++" ? "C" : language;
}

/** Returns the name under which the file of `user` knows `name` of the file of `declared`, or null. */
function localName(
  user: ModuleFacts,
  declared: ModuleFacts,
  name: string,
  manifests: readonly Manifest[],
): string | null {
  if (user.exports.some((own) => own.name === name)) return null;
  const isDefault = declared.exports.some((own) => own.name === name && own.isDefault);
  const matches = ({ imported }: ImportedName): boolean => imported === name || (isDefault && imported === "default");
  for (const { from, names } of user.imports) {
    if (!(namesPackage(declared, from, manifests) ?? leadsTo(user, declared, from, names))) continue;
    if (names.length === 0 || names.some(({ imported }) => imported === "*")) return name;
    const found = names.find(matches);
    if (found) return found.local;
  }
  const isShared = folderOf(user.path) === folderOf(declared.path) || isSameNamespace(user, declared);
  return isShared && !NAMES_IMPORTS.test(user.language) ? name : null;
}

const isSameNamespace = (one: ModuleFacts, other: ModuleFacts): boolean =>
  one.namespace !== "" && one.namespace === other.namespace && one.language !== "Go";

const ECOSYSTEMS: Partial<Record<string, Manifest["ecosystem"]>> = {
  JavaScript: "npm",
  Python: "Python",
  Go: "Go",
  Rust: "Rust",
};

/**
 * Whether `from` names the package of `declared`, or the part of it with `declared`. Null if the manifests cannot tell.
 * Subpaths of npm packages and modules of crates can be mapped to any file, so the whole package counts.
 */
function namesPackage({ path }: ModuleFacts, from: string, manifests: readonly Manifest[]): boolean | null {
  const manifest = nearestManifest(manifests, ECOSYSTEMS[familyOf(path)], path);
  if (!manifest) return null;
  const { ecosystem, folder, name } = manifest;
  const inside = path.slice(folder === "" ? 0 : folder.length + 1);
  switch (ecosystem) {
    case "npm":
      return from === name || from.startsWith(`${name}/`) ? true : null;
    case "Rust":
      return from.split("::")[0] === name.replaceAll("-", "_") ? true : null;
    case "Go":
      return from === joinPath(name, folderOf(inside));
    default: {
      // The modules of a package are in its folder or in `src`. `from` may be a package that passes the name on.
      const module = inside
        .replace(/^src\//, "")
        .replace(/(?:\/__init__)?\.pyi?$/, "")
        .replaceAll("/", ".");
      return module === from || module.startsWith(`${from}.`) ? true : null;
    }
  }
}

/** Whether an import leads to the file of `declared`, or to a folder around it that may pass its names on. */
function leadsTo(user: ModuleFacts, declared: ModuleFacts, from: string, names: readonly ImportedName[]): boolean {
  const modules = new Map([user, declared].map((facts) => [facts.path, facts]));
  const imported = names.map((name) => name.imported);
  const { files } = resolveImport(makeResolver(modules, []), user, from, imported);
  if (files.includes(declared.path)) return true;
  if (NAMES_IMPORTS.test(user.language)) return folderOfImport(user, from).some((folder) => contains(folder, declared));
  const last =
    from
      .split(/[/\\.:]+/)
      .filter(Boolean)
      .at(-1) ?? "";
  const stem = baseName(declared.path).replace(/\..*$/, "");
  const space = declared.namespace.split(/[\\.]/).at(-1) ?? "";
  return last !== "" && [stem, baseName(folderOf(declared.path)), space].includes(last);
}

const contains = (folder: string, { path }: ModuleFacts): boolean =>
  folder !== "" && (path.startsWith(`${folder}/`) || path.includes(`/${folder}/`));

/** The folders that an import may name: `./api/index.ts`, `app.api`, `crate::api`. */
function folderOfImport({ path, language }: ModuleFacts, from: string): string[] {
  if (isJavaScript(path)) {
    if (!from.startsWith(".")) return [];
    return [joinPath(folderOf(path), from.replace(/\/?index(?:\.[cm]?[jt]sx?)?$/, ""))];
  }
  if (language === "Python") {
    const dots = /^\.*/.exec(from)![0].length;
    const parts = from.slice(dots).split(".").filter(Boolean).join("/");
    const up = dots === 0 ? "" : joinPath(folderOf(path), "../".repeat(dots - 1));
    return [joinPath(up, parts)];
  }
  return [
    from
      .split("::")
      .filter((part) => !/^(?:crate|self|super)$/.test(part))
      .join("/"),
  ];
}

/** Returns the first line with the identifier `name` that is not in `known`, or null. */
function findLine(text: string, root: SyntaxNode, name: string, known: ReadonlySet<string>): number | null {
  const pattern = new RegExp(`(?<![\\w$])${name.replaceAll(/[^\w]/g, "\\$&")}(?![\\w$])`, "g");
  for (const { index } of text.matchAll(pattern)) {
    const start = text.lastIndexOf("\n", index) + 1;
    const end = text.indexOf("\n", index);
    if (known.has(text.slice(start, end === -1 ? text.length : end).trim())) continue;
    const node = root.descendantForIndex(index, index + name.length);
    if (node && NAME.test(node.type) && node.startIndex === index) return node.startPosition.row + 1;
  }
  return null;
}
