// Reads the facts about the repository as a whole, from its README, its manifests and its Makefile.
import { baseName } from "../read/classify.ts";
import type { CodeFacts } from "./components.ts";
import { compareText, type RepositoryFile } from "../read/facts.ts";
import { findPackageManager, type Manifest, type Script } from "../read/manifests.ts";
import { isGeneratedPage } from "../read/marker.ts";
import { markdownIntroduction } from "../write/prose.ts";
import { sourceOfEntry } from "./resolve-imports.ts";

export interface ProjectFacts {
  name: string;
  introduction: string;
  /** Path of the README at the root. */
  readme: string | null;
  install: Script[];
  /** Entry points of packages and programs, each with the reason why it is one. */
  entryPoints: { path: string; reason: string }[];
  /** Markdown files that users wrote, without the README. */
  documents: string[];
  makeTargets: string[];
}

export function readProject(facts: CodeFacts): ProjectFacts {
  const { files, manifests, read } = facts;
  const readme = files.find(({ path }) => /^readme\.(?:md|markdown)$/i.test(path))?.path ?? null;
  const text = readme === null ? null : read(readme);
  const introduction = text === null || isGeneratedPage(text) ? { title: "", text: "" } : markdownIntroduction(text);
  const describedManifest = manifests.find(({ name, description }) => name !== "" && description !== "");
  const rootManifest = manifests.find(({ folder, name }) => folder === "" && name !== "");
  // The root of a workspace without a description often only wraps the package that has one.
  const mainManifest =
    rootManifest && !(rootManifest.isWorkspaceRoot && rootManifest.description === "")
      ? rootManifest
      : (describedManifest ?? rootManifest ?? manifests.find(({ name }) => name !== ""));
  return {
    name: introduction.title || mainManifest?.name || "This repository",
    introduction: introduction.text || describedManifest?.description || "",
    readme: text === null ? null : readme,
    install: installCommands(files, manifests),
    entryPoints: findEntryPoints(facts),
    documents: files.filter(({ path, role }) => role === "document" && path !== readme).map(({ path }) => path),
    makeTargets: readMakeTargets(read("Makefile") ?? ""),
  };
}

function installCommands(files: RepositoryFile[], manifests: Manifest[]): Script[] {
  const commands: Script[] = [];
  const names = new Set(files.map(({ path }) => path));
  const has = (ecosystem: string): boolean =>
    manifests.some((manifest) => manifest.ecosystem === ecosystem && manifest.folder === "");
  if (has("npm"))
    commands.push({ command: `${findPackageManager(files)} install`, meaning: "installs the dependencies" });
  if (names.has("requirements.txt")) {
    commands.push({ command: "pip install -r requirements.txt", meaning: "installs the Python dependencies" });
  } else if (has("Python")) commands.push({ command: "pip install -e .", meaning: "installs the Python package" });
  if (has("Go")) commands.push({ command: "go build ./...", meaning: "builds the Go packages" });
  if (has("Rust")) commands.push({ command: "cargo build", meaning: "builds the Rust crates" });
  return commands;
}

function findEntryPoints({ files, manifests, resolver, modules }: CodeFacts): ProjectFacts["entryPoints"] {
  const reasons = new Map<string, string>();
  for (const manifest of manifests) {
    for (const entry of manifest.entries) {
      const path = sourceOfEntry(resolver, manifest, entry);
      if (path && !reasons.has(path)) reasons.set(path, `entry of \`${manifest.name || baseName(manifest.folder)}\``);
    }
  }
  for (const { path, role } of files) {
    if (role === "source" && modules.get(path)?.isProgram && !reasons.has(path))
      reasons.set(path, "started as a program");
  }
  return [...reasons].map(([path, reason]) => ({ path, reason })).toSorted((a, b) => compareText(a.path, b.path));
}

function readMakeTargets(makefile: string): string[] {
  return [...makefile.matchAll(/^([a-z][\w-]*)\s*:(?!=)/gm)].map((match) => match[1]!).slice(0, 20);
}
