// `readManifests` returns for each package its name, its purpose, its dependencies and its commands.
import { parse } from "smol-toml";
import { baseName, folderOf, isAside } from "./classify.ts";
import type { RepositoryFile } from "./facts.ts";
import { readComposer, readNpm } from "./json-manifests.ts";
import { type Manifest, type ManifestContext, type ManifestReader, recordOf } from "./manifest.ts";
import { readGemspec, readGoMod, readGradle } from "./text-manifests.ts";
import { readCargo, readPyproject } from "./toml-manifests.ts";
import { readPom, readProjectFile } from "./xml-manifests.ts";

const MAX_MANIFESTS = 500;
/** A `PLACEHOLDER` is a description without information. */
const PLACEHOLDER = /^\W*$|^(?:tbd|todo|wip|n\/a|none|null|unknown|description|no description|internal)\.?$/i;

const READERS: { matches: RegExp; ecosystem: Manifest["ecosystem"]; read: ManifestReader }[] = [
  { matches: /^package\.json$/, ecosystem: "npm", read: readNpm },
  { matches: /^pyproject\.toml$/, ecosystem: "Python", read: readPyproject },
  { matches: /^Cargo\.toml$/, ecosystem: "Rust", read: readCargo },
  { matches: /^go\.mod$/, ecosystem: "Go", read: readGoMod },
  { matches: /^pom\.xml$/, ecosystem: "Maven", read: readPom },
  { matches: /^build\.gradle(?:\.kts)?$/, ecosystem: "Gradle", read: readGradle },
  { matches: /^composer\.json$/, ecosystem: "PHP", read: readComposer },
  { matches: /\.gemspec$/, ecosystem: "Ruby", read: readGemspec },
  { matches: /\.(?:cs|fs|vb)proj$/, ecosystem: ".NET", read: readProjectFile },
];

export function readManifests(files: RepositoryFile[], read: (path: string) => string | null): Manifest[] {
  const context: ManifestContext = {
    packageManager: findPackageManager(files),
    cargoWorkspace: cargoWorkspace(read),
    read,
  };
  const manifests: Manifest[] = [];
  for (const { path } of files) {
    const reader = READERS.find(({ matches }) => matches.test(baseName(path)));
    // `isAside`: the manifest of a fixture, an example or a benchmark does not describe the project.
    if (!reader || isAside(path) || manifests.length >= MAX_MANIFESTS) continue;
    const text = read(path);
    if (text === null) continue;
    const manifest = emptyManifest(path, reader.ecosystem);
    try {
      reader.read(manifest, text, context);
    } catch {
      // A manifest with a syntax error says nothing that can be trusted.
      continue;
    }
    if (PLACEHOLDER.test(manifest.description)) manifest.description = "";
    manifests.push(manifest);
  }
  return manifests;
}

/** Recognises a package manager by its lock file at the root. */
export function findPackageManager(files: RepositoryFile[]): string {
  const names = new Set(files.map((file) => file.path));
  if (names.has("pnpm-lock.yaml")) return "pnpm";
  if (names.has("yarn.lock")) return "yarn";
  return names.has("bun.lock") || names.has("bun.lockb") ? "bun" : "npm";
}

function emptyManifest(path: string, ecosystem: Manifest["ecosystem"]): Manifest {
  return {
    path,
    folder: folderOf(path),
    ecosystem,
    name: "",
    description: "",
    scripts: [],
    entries: [],
    dependencies: [],
    isWorkspaceRoot: false,
  };
}

function cargoWorkspace(read: (path: string) => string | null): Record<string, unknown> {
  try {
    return recordOf(parse(read("Cargo.toml") ?? "")["workspace"]);
  } catch {
    return {};
  }
}
