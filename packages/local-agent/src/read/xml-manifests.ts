import { parseXml, XmlElement } from "@rgrove/parse-xml";
import { baseName } from "./classify.ts";
import type { ManifestReader } from "./manifest.ts";

export const readPom: ManifestReader = (manifest, text) => {
  const project = rootOf(text, "project");
  const plain = (name: string): string => (textIn(project, name).includes("${") ? "" : textIn(project, name));
  manifest.name = plain("name") || textIn(project, "artifactId");
  const group = textIn(project, "groupId") || textIn(child(project, "parent"), "groupId");
  manifest.id = `${group}:${textIn(project, "artifactId")}`;
  manifest.description = plain("description").replaceAll(/\s+/g, " ");
  manifest.isWorkspaceRoot = elementsOf(child(project, "modules")).length > 0;
  for (const dependency of elementsOf(child(project, "dependencies"))) {
    const name = `${textIn(dependency, "groupId")}:${textIn(dependency, "artifactId")}`;
    const version = textIn(dependency, "version");
    if (name.includes("${")) continue;
    const isForDevelopment = textIn(dependency, "scope") === "test";
    manifest.dependencies.push({ name, version: version.includes("${") ? "" : version, isForDevelopment });
  }
};

export const readProjectFile: ManifestReader = (manifest, text) => {
  const project = rootOf(text, "Project");
  const groups = elementsOf(project).filter(({ name }) => name === "PropertyGroup");
  const property = (name: string): string =>
    groups.map((group) => textIn(group, name)).find((value) => value !== "" && !value.includes("$(")) ?? "";
  const file = baseName(manifest.path).replace(/\.\w+proj$/, "");
  manifest.name = property("PackageId") || property("AssemblyName") || file;
  manifest.description = property("Description").replaceAll(/\s+/g, " ");
  for (const item of elementsOf(project).flatMap(elementsOf)) {
    const name = item.attributes["Include"] ?? "";
    const version = item.attributes["Version"] ?? textIn(item, "Version");
    if (item.name === "PackageReference" && name !== "" && !manifest.dependencies.some((known) => known.name === name))
      manifest.dependencies.push({
        name,
        version: version.includes("$(") ? "" : version,
        isForDevelopment: item.attributes["PrivateAssets"] === "all",
      });
  }
};

/** Entities that only a document type defines stay as they are. */
function rootOf(text: string, name: string): XmlElement | undefined {
  const { root } = parseXml(text, { ignoreUndefinedEntities: true });
  return root?.name === name ? root : undefined;
}

function elementsOf(parent: XmlElement | undefined): XmlElement[] {
  return (parent?.children ?? []).filter((child) => child instanceof XmlElement);
}

function child(parent: XmlElement | undefined, name: string): XmlElement | undefined {
  return elementsOf(parent).find((element) => element.name === name);
}

function textIn(parent: XmlElement | undefined, name: string): string {
  return child(parent, name)?.text.trim() ?? "";
}
