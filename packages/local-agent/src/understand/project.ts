// What the repository as a whole says about itself: name, introduction, how it is started, where it begins.
import { baseName } from "../read/classify.ts";
import { byText, type ModuleFacts, type RepositoryFile } from "../read/facts.ts";
import type { Manifest, Script } from "../read/manifests.ts";
import { npmRunner } from "../read/manifests.ts";
import { isGeneratedPage } from "../read/marker.ts";
import { markdownIntroduction } from "../write/prose.ts";
import { type Resolver, sourceOfEntry } from "./resolve-imports.ts";

export interface ProjectFacts {
  name: string;
  introduction: string;
  /** The README at the root, when there is one that a person wrote. */
  readme: string | null;
  install: Script[];
  /** Files where the project begins, each with the reason. */
  entryPoints: { path: string; reason: string }[];
  /** Markdown files that people wrote, apart from the README. */
  documents: string[];
  makeTargets: string[];
}

export function readProject(
  files: RepositoryFile[],
  manifests: Manifest[],
  resolver: Resolver,
  modules: Map<string, ModuleFacts>,
  read: (path: string) => string | null,
): ProjectFacts {
  const readme = files.find(({ path }) => /^readme\.(?:md|markdown)$/i.test(path))?.path ?? null;
  const text = readme === null ? null : read(readme);
  const written = text === null || isGeneratedPage(text) ? { title: "", text: "" } : markdownIntroduction(text);
  const described = manifests.find(({ name, description }) => name !== "" && description !== "");
  const top = manifests.find(({ folder, name }) => folder === "" && name !== "");
  // The root of a workspace is often no more than a frame around the package that has something to say.
  const root =
    top && !(top.isWorkspaceRoot && top.description === "")
      ? top
      : (described ?? top ?? manifests.find(({ name }) => name !== ""));
  return {
    name: written.title || root?.name || "This repository",
    introduction: written.text || described?.description || "",
    readme: text === null ? null : readme,
    install: installCommands(files, manifests),
    entryPoints: entryPoints(files, manifests, resolver, modules),
    documents: files.filter(({ path, role }) => role === "document" && path !== readme).map(({ path }) => path),
    makeTargets: makeTargets(read("Makefile") ?? ""),
  };
}

function installCommands(files: RepositoryFile[], manifests: Manifest[]): Script[] {
  const commands: Script[] = [];
  const names = new Set(files.map(({ path }) => path));
  const has = (ecosystem: string): boolean =>
    manifests.some((manifest) => manifest.ecosystem === ecosystem && manifest.folder === "");
  if (has("npm")) commands.push({ command: `${npmRunner(files)} install`, meaning: "installs the dependencies" });
  if (names.has("requirements.txt")) {
    commands.push({ command: "pip install -r requirements.txt", meaning: "installs the Python dependencies" });
  } else if (has("Python")) commands.push({ command: "pip install -e .", meaning: "installs the Python package" });
  if (has("Go")) commands.push({ command: "go build ./...", meaning: "builds the Go packages" });
  if (has("Rust")) commands.push({ command: "cargo build", meaning: "builds the Rust crates" });
  return commands;
}

function entryPoints(
  files: RepositoryFile[],
  manifests: Manifest[],
  resolver: Resolver,
  modules: Map<string, ModuleFacts>,
): ProjectFacts["entryPoints"] {
  const found = new Map<string, string>();
  for (const manifest of manifests) {
    for (const entry of manifest.entries) {
      const path = sourceOfEntry(resolver, manifest, entry);
      if (path && !found.has(path)) found.set(path, `entry of \`${manifest.name || baseName(manifest.folder)}\``);
    }
  }
  for (const { path, role } of files) {
    if (role === "source" && modules.get(path)?.isProgram && !found.has(path)) found.set(path, "started as a program");
  }
  return [...found].map(([path, reason]) => ({ path, reason })).toSorted((a, b) => byText(a.path, b.path));
}

function makeTargets(makefile: string): string[] {
  return [...makefile.matchAll(/^([a-z][\w-]*)\s*:(?!=)/gm)].map((match) => match[1]!).slice(0, 20);
}
