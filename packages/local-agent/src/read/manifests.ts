// Reads manifests: `package.json`, `pyproject.toml`, `go.mod` and `Cargo.toml`.
import { baseName, folderOf } from "./classify.ts";
import type { RepositoryFile } from "./facts.ts";

export interface Script {
  command: string;
  meaning: string;
}

export interface Manifest {
  path: string;
  folder: string;
  ecosystem: "npm" | "Python" | "Go" | "Rust";
  name: string;
  description: string;
  scripts: Script[];
  /** Entry points, spelled as in the manifest. */
  entries: string[];
  dependencies: { name: string; version: string; isForDevelopment: boolean }[];
  isWorkspaceRoot: boolean;
}

const MANIFESTS = new Set(["package.json", "pyproject.toml", "go.mod", "Cargo.toml"]);
const MAX_MANIFESTS = 200;

export function readManifests(files: RepositoryFile[], read: (path: string) => string | null): Manifest[] {
  const packageManager = findPackageManager(files);
  const manifests: Manifest[] = [];
  for (const { path, role } of files) {
    if (!MANIFESTS.has(baseName(path)) || role === "fixture" || manifests.length >= MAX_MANIFESTS) continue;
    const text = read(path);
    if (text === null) continue;
    const manifest =
      baseName(path) === "package.json" ? readNpm(path, text, packageManager) : readTextManifest(path, text);
    if (manifest) manifests.push(manifest);
  }
  return manifests;
}

/** Returns the package manager whose lock file is at the root. */
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

function readNpm(path: string, text: string, packageManager: string): Manifest | null {
  const json = parseJson(text);
  if (!json) return null;
  const manifest = emptyManifest(path, "npm");
  manifest.name = textOf(json["name"]);
  manifest.description = textOf(json["description"]);
  manifest.isWorkspaceRoot = json["workspaces"] !== undefined;
  for (const [name, command] of Object.entries(recordOf(json["scripts"]))) {
    const isShort = packageManager === "yarn" || name === "start" || name === "test";
    manifest.scripts.push({ command: `${packageManager} ${isShort ? "" : "run "}${name}`, meaning: textOf(command) });
  }
  for (const key of ["source", "main", "module", "bin", "exports"]) collectPaths(json[key], manifest.entries, 0);
  for (const key of ["dependencies", "peerDependencies", "optionalDependencies", "devDependencies"]) {
    for (const [name, version] of Object.entries(recordOf(json[key]))) {
      if (manifest.dependencies.some((known) => known.name === name)) continue;
      manifest.dependencies.push({ name, version: textOf(version), isForDevelopment: key === "devDependencies" });
    }
  }
  return manifest;
}

function collectPaths(value: unknown, into: string[], depth: number): void {
  if (typeof value === "string") {
    const path = value.replace(/^\.\//, "");
    if (!path.includes("*") && path !== "package.json" && !into.includes(path)) into.push(path);
  } else if (typeof value === "object" && value !== null && depth < 5) {
    for (const part of Object.values(value).slice(0, 100)) collectPaths(part, into, depth + 1);
  }
}

function readTextManifest(path: string, text: string): Manifest {
  if (baseName(path) === "go.mod") return readGoMod(path, text);
  const isRust = baseName(path) === "Cargo.toml";
  const manifest = emptyManifest(path, isRust ? "Rust" : "Python");
  let section = "";
  for (const line of joinArrays(text)) {
    const heading = /^\s*\[\[?([^\]]+)\]\]?/.exec(line);
    if (heading) {
      section = heading[1]!.trim();
      manifest.isWorkspaceRoot ||= section === "workspace";
      continue;
    }
    const pair = /^\s*["']?([\w.-]+)["']?\s*=\s*(.+)$/.exec(line);
    if (pair) readPair(manifest, section, pair[1]!, pair[2]!);
  }
  return manifest;
}

function readPair(manifest: Manifest, section: string, key: string, value: string): void {
  const plain = /^"((?:[^"\\]|\\.)*)"|^'([^']*)'/.exec(value);
  const text = plain?.[1] ?? plain?.[2] ?? "";
  if (/^(?:project|tool\.poetry|package)$/.test(section)) {
    if (key === "name") manifest.name = text;
    else if (key === "description") manifest.description = text;
    else if (key === "dependencies") {
      for (const [, requirement] of value.matchAll(/["']([^"']+)["']/g)) addRequirement(manifest, requirement!);
    }
  } else if (/^(?:project|tool\.poetry)\.scripts$/.test(section)) {
    manifest.scripts.push({ command: key, meaning: text });
  } else if (/^(?:tool\.poetry\.)?(?:dev-)?dependencies$/.test(section) && key !== "python") {
    const version = text || (/version\s*=\s*"([^"]+)"/.exec(value)?.[1] ?? "");
    manifest.dependencies.push({ name: key, version, isForDevelopment: section.includes("dev-") });
  }
}

function addRequirement(manifest: Manifest, requirement: string): void {
  const parts = /^([\w.-]+(?:\[[^\]]*\])?)\s*(.*)$/.exec(requirement);
  if (parts) manifest.dependencies.push({ name: parts[1]!, version: parts[2]!, isForDevelopment: false });
}

/** Returns one line per entry: joins arrays that span lines, and removes comments. */
function joinArrays(text: string): string[] {
  const entries: string[] = [];
  let open = "";
  for (const line of text.split("\n").slice(0, 5_000)) {
    const code = line.replace(/(^|\s)#.*$/, "");
    open = open === "" ? code : `${open} ${code.trim()}`;
    if (/=\s*\[/.test(open) && !/\]\s*$/.test(open) && open.length < 20_000) continue;
    entries.push(open);
    open = "";
  }
  return open === "" ? entries : [...entries, open];
}

function readGoMod(path: string, text: string): Manifest {
  const manifest = emptyManifest(path, "Go");
  manifest.name = /^module\s+(\S+)/m.exec(text)?.[1] ?? "";
  for (const [, name, version] of text.matchAll(
    /^(?:require\s+|\t)([\w./~-]+\.[\w./~-]+)\s+(v\S+)(?!.*\/\/ indirect)/gm,
  )) {
    manifest.dependencies.push({ name: name!, version: version!, isForDevelopment: false });
  }
  return manifest;
}

function parseJson(text: string): Record<string, unknown> | null {
  try {
    return recordOf(JSON.parse(text));
  } catch {
    return null;
  }
}

function recordOf(value: unknown): Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value) ? { ...value } : {};
}

function textOf(value: unknown): string {
  return typeof value === "string" ? value : "";
}
