// What components and their pages are called: by their package, else by the last telling part of their folder's path,
// with as much of the path in front as it takes to tell them apart.
import { baseName } from "../read/classify.ts";
import type { ComponentPart } from "./components.ts";
import type { Manifest } from "../read/manifests.ts";

/** Folder names that say nothing about what is in them. */
const SILENT = new Set(["src", "lib", "packages", "libs", "apps", "source", "sources", "main", "java", "kotlin"]);
const WINDOWS_DEVICES = /^(?:con|prn|aux|nul|com\d|lpt\d)$/;

export function nameComponents(parts: ComponentPart[], manifests: Manifest[]): { name: string; slug: string }[] {
  const folders = new Set(parts.map((part) => part.folder));
  const names = parts.map((part) => nameOf(part, folders, manifests));
  const used = new Set(["readme", "index"]);
  return names.map((choices, index) => {
    const isTaken = (choice: string): boolean => names.some((other, at) => at !== index && other[0] === choice);
    const name = choices.find((choice) => !isTaken(choice)) ?? choices.at(-1)!;
    return { name, slug: uniqueSlug(toSlug(name), used) };
  });
}

/** Names from short to long; the first that no other component has is taken. */
function nameOf(part: ComponentPart, folders: Set<string>, manifests: Manifest[]): string[] {
  const named = manifests.filter(({ name }) => name !== "");
  const manifest =
    named.find(({ folder }) => folder === part.folder) ??
    // What is left of a package lies in its source folder, unless something lies beside its manifest.
    named.find(({ folder }) => part.folder === join(folder, "src") && !folders.has(folder));
  const telling = part.folder.split("/").filter((segment) => segment !== "" && !SILENT.has(segment));
  const ending = part.prefix === null || part.prefix === "" ? [] : [part.prefix];
  const segments = [...telling, ...ending];
  const choices = segments.map((_, index) => segments.slice(-index - 1).join("/"));
  if (manifest && ending.length === 0) choices.unshift(shortPackageName(manifest));
  if (choices.length === 0) choices.push(part.folder === "" ? rootName(part) : baseName(part.folder));
  choices.push([part.folder || "root", ...ending].join("/"));
  return choices;
}

function shortPackageName(manifest: Manifest): string {
  return manifest.ecosystem === "Go" ? manifest.name.split("/").at(-1)! : manifest.name;
}

/** A root without a manifest is called after its only file, if it has only one. */
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

export function uniqueSlug(wanted: string, used: Set<string>): string {
  let slug = wanted;
  for (let count = 2; used.has(slug); count += 1) slug = `${wanted}-${count}`;
  used.add(slug);
  return slug;
}

function join(folder: string, inner: string): string {
  return folder === "" ? inner : `${folder}/${inner}`;
}
