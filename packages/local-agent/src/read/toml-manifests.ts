import { parse } from "smol-toml";
import { listOf, type Manifest, type ManifestReader, recordOf, textOf } from "./manifest.ts";

export const readPyproject: ManifestReader = (manifest, text) => {
  const toml = recordOf(parse(text));
  const project = recordOf(toml["project"]);
  const poetry = recordOf(recordOf(toml["tool"])["poetry"]);
  manifest.name = textOf(project["name"]) || textOf(poetry["name"]);
  manifest.description = textOf(project["description"]) || textOf(poetry["description"]);
  const scripts = {
    ...recordOf(project["scripts"]),
    ...recordOf(project["gui-scripts"]),
    ...recordOf(poetry["scripts"]),
  };
  for (const [command, target] of Object.entries(scripts)) manifest.scripts.push({ command, meaning: textOf(target) });
  for (const requirement of listOf(project["dependencies"])) addRequirement(manifest, textOf(requirement), false);
  for (const [name, value] of Object.entries(recordOf(poetry["dependencies"]))) {
    if (name !== "python") addVersion(manifest, name, value, false);
  }
  const groups = [
    ...Object.values(recordOf(project["optional-dependencies"])),
    ...Object.values(recordOf(toml["dependency-groups"])),
  ];
  for (const requirement of groups.flatMap(listOf)) addRequirement(manifest, textOf(requirement), true);
};

/** Reads a requirement such as `rich[jupyter] >=13 ; python_version < "3.9"`. */
function addRequirement(manifest: Manifest, requirement: string, isForDevelopment: boolean): void {
  const parts = /^([\w.-]+)\s*(?:\[[^\]]*\])?\s*([^;]*)/.exec(requirement);
  if (!parts || manifest.dependencies.some(({ name }) => name === parts[1])) return;
  manifest.dependencies.push({ name: parts[1]!, version: parts[2]!.trim(), isForDevelopment });
}

export const readCargo: ManifestReader = (manifest, text, { cargoWorkspace }) => {
  const toml = recordOf(parse(text));
  const crate = recordOf(toml["package"]);
  const shared = recordOf(cargoWorkspace["package"]);
  const inherited = (key: string): string =>
    recordOf(crate[key])["workspace"] === true ? textOf(shared[key]) : textOf(crate[key]);
  manifest.name = textOf(crate["name"]);
  manifest.description = inherited("description").replaceAll(/\s+/g, " ").trim();
  manifest.isWorkspaceRoot = toml["workspace"] !== undefined;
  const library = textOf(recordOf(toml["lib"])["path"]);
  manifest.entries.push(...[library, "src/lib.rs", "src/main.rs"].filter((entry) => entry !== ""));
  for (const program of listOf(toml["bin"]).map(recordOf)) {
    const path = textOf(program["path"]);
    if (path !== "" && !manifest.entries.includes(path)) manifest.entries.push(path);
  }
  const targets = Object.values(recordOf(toml["target"])).map(recordOf);
  for (const table of [toml, ...targets]) {
    for (const [key, isForDevelopment] of [
      ["dependencies", false],
      ["build-dependencies", true],
      ["dev-dependencies", true],
    ] as const) {
      for (const [name, value] of Object.entries(recordOf(table[key])))
        addCrate(manifest, name, value, isForDevelopment, cargoWorkspace);
    }
  }
};

function addCrate(
  manifest: Manifest,
  key: string,
  value: unknown,
  isForDevelopment: boolean,
  workspace: Record<string, unknown>,
): void {
  const isInherited = recordOf(value)["workspace"] === true;
  const specification = isInherited ? recordOf(workspace["dependencies"])[key] : value;
  // A crate may be used under another name.
  addVersion(manifest, textOf(recordOf(specification)["package"]) || key, specification, isForDevelopment);
}

function addVersion(manifest: Manifest, name: string, value: unknown, isForDevelopment: boolean): void {
  if (manifest.dependencies.some((known) => known.name === name)) return;
  manifest.dependencies.push({ name, version: textOf(value) || textOf(recordOf(value)["version"]), isForDevelopment });
}
