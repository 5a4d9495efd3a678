// `nameComponents` names a component after its package, else after the last meaningful segment of its folder, with as
// many segments before it as a unique name needs.
import { baseName } from "../read/classify.ts";
import type { ComponentPart } from "./components.ts";
import type { Manifest } from "../read/manifest.ts";
import { joinPath } from "../read/paths.ts";

/** `GENERIC_FOLDERS` do not describe their content. */
const GENERIC_FOLDERS = new Set([
  "src",
  "lib",
  "packages",
  "libs",
  "apps",
  "source",
  "sources",
  "main",
  "java",
  "kotlin",
]);
/** Pages of the agent that belong to no component. */
export const RESERVED_SLUGS = ["readme", "index", "architecture"];
const WINDOWS_DEVICES = /^(?:con|prn|aux|nul|com\d|lpt\d)$/;

export function nameComponents(parts: ComponentPart[], manifests: Manifest[]): { name: string; slug: string }[] {
  const folders = new Set(parts.map((part) => part.folder));
  const choicesOfParts = parts.map((part) => nameChoices(part, folders, manifests));
  // Parts with the same name all take their next longer one of `choicesOfParts`, until all names differ.
  const lengths = parts.map(() => 0);
  const nameAt = (index: number): string => choicesOfParts[index]![lengths[index]!]!;
  const key = (name: string): string => name.toLowerCase();
  for (let isChanged = true; isChanged;) {
    const counts = new Map<string, number>();
    for (const index of parts.keys()) counts.set(key(nameAt(index)), (counts.get(key(nameAt(index))) ?? 0) + 1);
    isChanged = false;
    for (const index of parts.keys()) {
      const isLonger = counts.get(key(nameAt(index)))! > 1 && lengths[index]! + 1 < choicesOfParts[index]!.length;
      if (isLonger) lengths[index]! += 1;
      isChanged ||= isLonger;
    }
  }
  const usedNames = new Set<string>();
  const usedSlugs = new Set(RESERVED_SLUGS);
  return parts.map((_, index) => {
    const name = unique(nameAt(index), (count) => `${nameAt(index)} (${count})`, usedNames);
    return { name, slug: unique(toSlug(name), (count) => `${toSlug(name)}-${count}`, usedSlugs) };
  });
}

function nameChoices(part: ComponentPart, folders: Set<string>, manifests: Manifest[]): string[] {
  const namedManifests = manifests.filter(({ name }) => name !== "");
  const manifest =
    namedManifests.find(({ folder }) => folder === part.folder) ??
    // A part in the source folder represents the package, unless another part has the package's own folder.
    namedManifests.find(({ folder }) => part.folder === joinPath(folder, "src") && !folders.has(folder));
  const meaningful = part.folder.split("/").filter((segment) => segment !== "" && !GENERIC_FOLDERS.has(segment));
  const ending = part.prefix === null || part.prefix === "" ? [] : [part.prefix];
  const segments = [...meaningful, ...ending];
  const choices = segments.map((_, index) => segments.slice(-index - 1).join("/"));
  if (manifest && ending.length === 0) choices.unshift(shortPackageName(manifest));
  if (choices.length === 0) choices.push(part.folder === "" ? rootName(part) : baseName(part.folder));
  choices.push([part.folder || "root", ...ending].join("/"));
  return choices;
}

/** The last segment of a Go module may be its major version, as in `example.org/tool/v2`. */
export function shortPackageName(manifest: Manifest): string {
  if (manifest.ecosystem !== "Go") return manifest.name;
  return manifest.name.split("/").findLast((part) => !/^v\d+$/.test(part)) ?? manifest.name;
}

/** A root without a manifest is named after its file if it has only one. */
function rootName(part: ComponentPart): string {
  return part.files.length === 1 ? baseName(part.files[0]!).replace(/\.\w+$/, "") : "root";
}

export function toSlug(name: string): string {
  const slug = name
    .normalize("NFKD")
    .toLowerCase()
    .replace(/^@[^/]+\//, "")
    .replaceAll(/[^a-z0-9]+/g, "-")
    .replaceAll(/^-+|-+$/g, "")
    .slice(0, 60);
  return slug === "" || WINDOWS_DEVICES.test(slug) ? `component${slug === "" ? "" : `-${slug}`}` : slug;
}

function unique(base: string, numbered: (count: number) => string, used: Set<string>): string {
  let text = base;
  for (let count = 2; used.has(text.toLowerCase()); count += 1) text = numbered(count);
  used.add(text.toLowerCase());
  return text;
}
