// `readProject` describes the repository as a whole, from its README, its manifests and its Makefile.
import { baseName, folderOf } from "../read/classify.ts";
import type { CodeFacts } from "./components.ts";
import { compareText, type RepositoryFile } from "../read/facts.ts";
import type { Manifest, Script } from "../read/manifest.ts";
import { findPackageManager } from "../read/manifests.ts";
import { isGeneratedPage } from "../read/marker.ts";
import { readIntroduction } from "../write/introduction.ts";
import { shortPackageName } from "./name-components.ts";
import { nearestManifest, sourceOfEntry } from "./resolve-imports.ts";

export interface ProjectFacts {
  name: string;
  introduction: string;
  readme: string | null;
  commands: Script[];
  /** `reason` says why the path is an entry point, for example that a manifest names it. */
  entryPoints: { path: string; reason: string }[];
  documents: string[];
}

export function readProject(facts: CodeFacts, folderName: string): ProjectFacts {
  const { files, manifests, read } = facts;
  const readme = findReadme(facts);
  const text = readme === null ? null : read(readme);
  const introduction =
    text === null || isGeneratedPage(text) ? { title: "", text: "" } : readIntroduction(text, readme!);
  const main = mainManifest(manifests);
  const entryPoints = findEntryPoints(facts);
  return {
    name: introduction.title || (main && shortPackageName(main)) || folderName || "This repository",
    introduction: introduction.text || main?.description || "",
    readme: text === null ? null : readme,
    commands: findCommands(facts, entryPoints),
    entryPoints,
    documents: files.filter(({ path, role }) => role === "document" && path !== readme).map(({ path }) => path),
  };
}

/** The README at the root may be one of the `links`, for example to the main package. */
function findReadme({ files, links }: CodeFacts): string | null {
  const isReadme = (path: string): boolean => /^readme(?:\.(?:md|markdown|rst|txt))?$/i.test(path);
  const target = [...links].find(([path]) => isReadme(path))?.[1];
  return files.find(({ path }) => isReadme(path))?.path ?? files.find(({ path }) => path === target)?.path ?? null;
}

/** A package below the root stands for the whole repository only if there is no other one. */
function mainManifest(manifests: Manifest[]): Manifest | undefined {
  const named = manifests.filter(({ name }) => name !== "");
  return named.find(({ folder }) => folder === "") ?? (named.length === 1 ? named[0] : undefined);
}

function findCommands({ files, manifests, read, modules }: CodeFacts, entryPoints: { path: string }[]): Script[] {
  const atRoot = manifests.filter(({ folder }) => folder === "");
  const names = new Set(files.map(({ path }) => path));
  const commands: Script[] = [];
  const add = (command: string, meaning: string): void => {
    if (!commands.some((known) => known.command === command)) commands.push({ command, meaning });
  };
  for (const { ecosystem, scripts } of atRoot) {
    for (const { command, meaning } of ECOSYSTEM_COMMANDS[ecosystem](files, names)) add(command, meaning);
    for (const { command, meaning } of scripts) {
      const shown = meaning.length > 120 ? `${meaning.slice(0, 120)} …` : meaning;
      if (meaning !== "") add(command, `runs \`${shown.replaceAll("`", "'").replaceAll(/\s+/g, " ")}\``);
    }
  }
  if (files.some(({ path }) => /^[^/]+\.slnx?$/.test(path)))
    for (const { command, meaning } of ECOSYSTEM_COMMANDS[".NET"](files, names)) add(command, meaning);
  const programs = entryPoints.filter(({ path }) => modules.get(path)?.isProgram);
  for (const { path } of programs) {
    // A module below the root has its own commands.
    if (path.endsWith(".go") && nearestManifest(manifests, "Go", path)?.folder === "")
      add(`go run ./${folderOf(path)}`.replace(/\/$/, ""), "runs the program");
    else if (/^src\/main\.rs$/.test(path)) add("cargo run", "runs the program");
  }
  if (names.has("requirements.txt") && !atRoot.some(({ ecosystem }) => ecosystem === "Python"))
    add("pip install -r requirements.txt", "installs the dependencies");
  for (const { command, meaning } of readMakefile(read("Makefile") ?? "")) add(command, meaning);
  return commands;
}

type CommandList = (files: RepositoryFile[], names: Set<string>) => Script[];
const script = (command: string, meaning: string): Script => ({ command, meaning });
const hasTests = (files: RepositoryFile[], ending: string): boolean =>
  files.some(({ path, role }) => role === "test" && path.endsWith(ending));

const ECOSYSTEM_COMMANDS: Record<Manifest["ecosystem"], CommandList> = {
  npm: (files) => [script(`${findPackageManager(files)} install`, "installs the dependencies")],
  Python: () => [script("pip install -e .", "installs the package for development")],
  Go: (files) => [
    script("go build ./...", "builds all packages"),
    ...(hasTests(files, "_test.go") ? [script("go test ./...", "runs the tests")] : []),
  ],
  Rust: () => [script("cargo build", "builds the crates"), script("cargo test", "runs the tests")],
  Maven: (_, names) => {
    const program = names.has("mvnw") ? "./mvnw" : "mvn";
    return [script(`${program} package`, "builds the project"), script(`${program} test`, "runs the tests")];
  },
  Gradle: (_, names) => {
    const program = names.has("gradlew") ? "./gradlew" : "gradle";
    return [script(`${program} build`, "builds the project"), script(`${program} test`, "runs the tests")];
  },
  PHP: () => [script("composer install", "installs the dependencies")],
  Ruby: (_, names) => [
    ...(names.has("Gemfile") ? [script("bundle install", "installs the dependencies")] : []),
    ...(names.has("Rakefile") ? [script("bundle exec rake", "runs the default task")] : []),
  ],
  ".NET": (files) => [
    script("dotnet build", "builds the project"),
    ...(hasTests(files, ".cs") ? [script("dotnet test", "runs the tests")] : []),
  ],
};

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

/** Reads only targets with a known effect: from a comment or from the first command. */
function readMakefile(makefile: string): Script[] {
  const lines = makefile.split("\n");
  const targets: Script[] = [];
  for (const [index, line] of lines.entries()) {
    const found = /^([a-zA-Z][\w-]*)\s*:(?!=)([^#]*)(?:##?\s*(.*))?$/.exec(line);
    if (!found || targets.some(({ command }) => command === `make ${found[1]}`)) continue;
    const above = /^#+\s*([A-Za-z].*)$/.exec(lines[index - 1] ?? "")?.[1];
    const recipe = recipeAfter(lines, index);
    const isShown = recipe !== undefined && !/^(?:if|for|set)\b/.test(recipe) && !recipe.includes("`");
    const meaning = found[3]?.trim() || above || (isShown ? `runs \`${recipe.slice(0, 120)}\`` : "");
    if (meaning !== "") targets.push(script(`make ${found[1]}`, meaning));
  }
  return targets.slice(0, 20);
}

/** Returns the first command of a target that does more than print a message. */
function recipeAfter(lines: string[], index: number): string | undefined {
  for (let at = index + 1; lines[at]?.startsWith("\t"); at += 1) {
    const recipe = /^\t[@-]*\s*(.+?)\s*\\?$/.exec(lines[at]!)?.[1];
    if (recipe !== undefined && !/^(?:echo|printf|:|\$\((?:info|warning))\b/.test(recipe) && !recipe.startsWith("#"))
      return recipe;
  }
  return undefined;
}
