import { type Manifest, type ManifestReader, recordOf, textOf } from "./manifest.ts";

export const readNpm: ManifestReader = (manifest, text, { packageManager }) => {
  const json = recordOf(JSON.parse(text));
  manifest.name = textOf(json["name"]);
  manifest.description = textOf(json["description"]);
  manifest.isWorkspaceRoot = json["workspaces"] !== undefined;
  for (const [name, command] of Object.entries(recordOf(json["scripts"]))) {
    const isShort = packageManager === "yarn" || name === "start" || name === "test";
    manifest.scripts.push({ command: `${packageManager} ${isShort ? "" : "run "}${name}`, meaning: textOf(command) });
  }
  for (const key of ["source", "main", "module", "bin", "exports"]) collectPaths(json[key], manifest.entries, 0);
  for (const key of ["dependencies", "peerDependencies", "optionalDependencies", "devDependencies"])
    addDependencies(manifest, json[key], key === "devDependencies");
};

export const readComposer: ManifestReader = (manifest, text) => {
  const json = recordOf(JSON.parse(text));
  manifest.name = textOf(json["name"]);
  manifest.description = textOf(json["description"]);
  for (const [name, command] of Object.entries(recordOf(json["scripts"]))) {
    const meaning = Array.isArray(command) ? command.map(textOf).join(" && ") : textOf(command);
    // Names such as `post-install-cmd` are events, not commands.
    if (!/^(?:pre|post)-/.test(name)) manifest.scripts.push({ command: `composer ${name}`, meaning });
  }
  addDependencies(manifest, json["require"], false);
  addDependencies(manifest, json["require-dev"], true);
  // `php` and `ext-…` are the platform, not packages.
  manifest.dependencies = manifest.dependencies.filter(({ name }) => name.includes("/"));
};

function addDependencies(manifest: Manifest, value: unknown, isForDevelopment: boolean): void {
  for (const [name, version] of Object.entries(recordOf(value))) {
    if (manifest.dependencies.some((known) => known.name === name)) continue;
    manifest.dependencies.push({ name, version: textOf(version), isForDevelopment });
  }
}

function collectPaths(value: unknown, into: string[], depth: number): void {
  if (typeof value === "string") {
    const path = value.replace(/^\.\//, "");
    if (!path.includes("*") && path !== "package.json" && !into.includes(path)) into.push(path);
  } else if (typeof value === "object" && value !== null && depth < 5) {
    for (const part of Object.values(value).slice(0, 100)) collectPaths(part, into, depth + 1);
  }
}
