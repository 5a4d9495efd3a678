// `purposeOf` finds the purpose of a component in the texts of the repository: the README of its folder, the
// description in its manifest, a guide that lists folders, or the comment at the top of its main file. The agent
// invents no purpose.
import { baseName, folderOf } from "../read/classify.ts";
import type { ComponentPart, CodeFacts } from "./components.ts";
import { compareText } from "../read/facts.ts";
import type { Graph } from "./graph.ts";
import type { Manifest } from "../read/manifest.ts";
import { isGeneratedPage } from "../read/marker.ts";
import { readIntroduction } from "../write/introduction.ts";
import { firstParagraph } from "../write/prose.ts";
import { entryFile } from "./resolve-imports.ts";

export function purposeOf(part: ComponentPart, facts: CodeFacts, guides: string[]): string {
  const { modules, manifests, resolver, graph, read } = facts;
  const manifest = manifests.find(({ folder }) => folder === part.folder || part.folder === `${folder}/src`);
  if (part.prefix === null) {
    // The README at the root describes the whole project, not one part of it.
    const folders = [part.folder, manifest?.folder ?? ""].filter((folder) => folder !== "");
    for (const folder of folders) {
      const readme = read(`${folder}/README.md`);
      const introduction = readme === null || isGeneratedPage(readme) ? "" : readIntroduction(readme, "README.md").text;
      if (introduction !== "") return introduction;
    }
    if (manifest?.description && hasMostOf(part, manifest, facts)) return manifest.description;
    for (const folder of folders) {
      const description = findInGuides(folder, guides);
      if (description !== "") return description;
    }
  }
  const entry = manifest ? entryFile(resolver, manifest) : null;
  for (const path of mainFiles(part, entry, graph)) {
    const header = firstParagraph(modules.get(path)?.header ?? "");
    if (header !== "" && (!path.endsWith(".go") || /^(?:Package|Command)\b/.test(header))) return header;
  }
  return "";
}

/** The description of a package is not about the rest that remains if most of its files belong to other components. */
function hasMostOf(part: ComponentPart, manifest: Manifest, { files, manifests }: CodeFacts): boolean {
  const prefix = manifest.folder === "" ? "" : `${manifest.folder}/`;
  const nested = manifests.filter(({ folder }) => folder !== manifest.folder && folder.startsWith(prefix));
  const isOwn = (path: string): boolean =>
    path.startsWith(prefix) && !nested.some(({ folder }) => path.startsWith(`${folder}/`));
  const count = files.filter(({ path, role }) => role === "source" && isOwn(path)).length;
  return part.files.length * 2 >= count;
}

/**
 * Returns the files that may have a header about all of `part`: its entry points, then the file named after its folder.
 */
function mainFiles(part: ComponentPart, entry: string | null, graph: Graph): string[] {
  const stem = baseName(part.folder);
  // In a Go package any of `goFiles` may have the comment about the package.
  const goFiles = part.files.filter((path) => path.endsWith(".go") && folderOf(path) === part.folder);
  const rank = (path: string): number => {
    if (path === entry) return 0;
    const name = baseName(path).replace(/\.[a-z]+$/, "");
    if (folderOf(path) !== part.folder) return 9;
    if (/^(?:index|mod|lib|doc|__init__|package-info)$/.test(name)) return 1;
    if (name === stem) return 2;
    return /^(?:main|app|server|cli)$/.test(name) ? 3 : 9;
  };
  if (part.files.length === 1) return part.files;
  const ranked = part.files.filter((path) => rank(path) < 9);
  const partFiles = new Set(part.files);
  const roots = part.files.filter(
    (path) =>
      folderOf(path) === part.folder && ![...(graph.importers.get(path) ?? [])].some((other) => partFiles.has(other)),
  );
  // A single file that imports the others and that none of them imports (`roots`) describes them.
  if (ranked.length === 0 && roots.length === 1) return roots;
  const importers = (path: string): number => graph.importers.get(path)?.size ?? 0;
  return [
    ...ranked.toSorted((a, b) => rank(a) - rank(b) || importers(b) - importers(a) || compareText(a, b)),
    ...goFiles,
  ];
}

/**
 * Finds the description of a folder in a table, a list or a drawing of the tree. `listedPath` must contain a slash,
 * because a plain word may be a command or ordinary text.
 */
function findInGuides(folder: string, guides: string[]): string {
  const line =
    /^[\s|│├└─*+-]*(?:\*\*)?`?([\w@.-]*(?:\/[\w@.-]*)+)`?(?:\*\*)?(?:\s*[|:–—-]\s+|\s{2,})(?:#\s*)?(\S.{11,400})$/gm;
  for (const text of guides) {
    for (const [, listedPath, words] of text.matchAll(line)) {
      const path = listedPath!.replaceAll(/^\.?\/|\/$/g, "");
      const description = words!.replace(/\s*\|?\s*$/, "");
      if (path !== "" && `/${folder}`.endsWith(`/${path}`) && !description.includes(" | "))
        return toSentence(description);
    }
  }
  return "";
}

function toSentence(words: string): string {
  const text = words.charAt(0).toUpperCase() + words.slice(1);
  return /[.!?]$/.test(text) ? text : `${text}.`;
}
