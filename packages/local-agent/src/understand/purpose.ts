// What a component is for, in the words of the repository: a README in its folder, the manifest's description, or the
// comment at the top of its main file. The agent invents no purpose of its own.
import { baseName, folderOf } from "../read/classify.ts";
import type { ComponentPart } from "./components.ts";
import { byText, type ModuleFacts } from "../read/facts.ts";
import type { Graph } from "./graph.ts";
import type { Manifest } from "../read/manifests.ts";
import { isGeneratedPage } from "../read/marker.ts";
import { firstParagraph, markdownIntroduction } from "../write/prose.ts";
import { entryFile, type Resolver } from "./resolve-imports.ts";

export function purposeOf(
  part: ComponentPart,
  modules: Map<string, ModuleFacts>,
  manifests: Manifest[],
  resolver: Resolver,
  graph: Graph,
  documents: string[],
  read: (path: string) => string | null,
): string {
  const manifest = manifests.find(({ folder }) => folder === part.folder || part.folder === `${folder}/src`);
  if (part.prefix === null) {
    // The README at the root speaks for the whole project, not for one of its parts.
    const folders = [part.folder, manifest?.folder ?? ""].filter((folder) => folder !== "");
    for (const folder of folders) {
      const readme = read(`${folder}/README.md`);
      const introduction = readme === null || isGeneratedPage(readme) ? "" : markdownIntroduction(readme).text;
      if (introduction !== "") return introduction;
    }
    if (manifest?.description) return manifest.description;
    for (const folder of folders) {
      const mentioned = mention(folder, documents);
      if (mentioned !== "") return mentioned;
    }
  }
  const entry = manifest ? entryFile(resolver, manifest) : null;
  for (const path of mainFiles(part, entry, graph)) {
    const header = firstParagraph(modules.get(path)?.header ?? "");
    if (header !== "") return header;
  }
  return "";
}

/** The files that may speak for the whole part: its entry points, then the file called like its folder. */
function mainFiles(part: ComponentPart, entry: string | null, graph: Graph): string[] {
  const stem = baseName(part.folder);
  const rank = (path: string): number => {
    if (path === entry) return 0;
    const name = baseName(path).replace(/\.[a-z]+$/, "");
    if (folderOf(path) !== part.folder) return 9;
    if (/^(?:index|mod|lib|doc|__init__)$/.test(name)) return 1;
    if (name === stem) return 2;
    return /^(?:main|app|server|cli)$/.test(name) ? 3 : 9;
  };
  if (part.files.length === 1) return part.files;
  const ranked = part.files.filter((path) => rank(path) < 9);
  const own = new Set(part.files);
  const top = part.files.filter(
    (path) => folderOf(path) === part.folder && ![...(graph.importers.get(path) ?? [])].some((other) => own.has(other)),
  );
  // The one file that uses the others and is used by none of them speaks for them.
  if (ranked.length === 0 && top.length === 1) return top;
  const importers = (path: string): number => graph.importers.get(path)?.size ?? 0;
  return ranked.toSorted((a, b) => rank(a) - rank(b) || importers(b) - importers(a) || byText(a, b));
}

/**
 * What the project's own documents say about a folder, where they list folders: in a table, a list, or a drawing of
 * the tree. The name must stand as a folder's, with a slash, so that commands and ordinary words are not taken for it.
 */
function mention(folder: string, documents: string[]): string {
  const line =
    /^[\s|│├└─*+-]*(?:\*\*)?`?([\w@.-]*(?:\/[\w@.-]*)+)`?(?:\*\*)?(?:\s*[|:–—-]\s+|\s{2,})(?:#\s*)?(\S.{11,400})$/gm;
  for (const text of documents) {
    for (const [, written, words] of text.matchAll(line)) {
      const path = written!.replaceAll(/^\.?\/|\/$/g, "");
      const said = words!.replace(/\s*\|?\s*$/, "");
      if (path !== "" && `/${folder}`.endsWith(`/${path}`) && !said.includes(" | ")) return sentence(said);
    }
  }
  return "";
}

function sentence(words: string): string {
  const start = words.charAt(0).toUpperCase() + words.slice(1);
  return /[.!?]$/.test(start) ? start : `${start}.`;
}
