import { baseName } from "./classify.ts";
import type { ManifestReader } from "./manifest.ts";

interface XmlElement {
  name: string;
  attributes: Map<string, string>;
  children: XmlElement[];
  text: string;
}

const TOKEN =
  /<!--[\s\S]*?-->|<!\[CDATA\[([\s\S]*?)\]\]>|<[?!][^>]*>|<\/([\w.:-]+)\s*>|<([\w.:-]+)((?:\s+[\w.:-]+\s*=\s*(?:"[^"]*"|'[^']*'))*)\s*(\/)?>|([^<]+)/g;
const ENTITIES: Record<string, string> = { lt: "<", gt: ">", amp: "&", quot: '"', apos: "'" };

export const readPom: ManifestReader = (manifest, text) => {
  const project = child(readXml(text), "project");
  const plain = (name: string): string => (textIn(project, name).includes("${") ? "" : textIn(project, name));
  manifest.name = plain("name") || textIn(project, "artifactId");
  manifest.description = plain("description").replaceAll(/\s+/g, " ");
  manifest.isWorkspaceRoot = child(project, "modules").children.length > 0;
  for (const dependency of child(project, "dependencies").children) {
    const name = `${textIn(dependency, "groupId")}:${textIn(dependency, "artifactId")}`;
    const version = textIn(dependency, "version");
    if (name.includes("${")) continue;
    const isForDevelopment = textIn(dependency, "scope") === "test";
    manifest.dependencies.push({ name, version: version.includes("${") ? "" : version, isForDevelopment });
  }
};

export const readProjectFile: ManifestReader = (manifest, text) => {
  const project = child(readXml(text), "Project");
  const groups = project.children.filter(({ name }) => name === "PropertyGroup");
  const property = (name: string): string =>
    groups.map((group) => textIn(group, name)).find((value) => value !== "" && !value.includes("$(")) ?? "";
  const file = baseName(manifest.path).replace(/\.\w+proj$/, "");
  manifest.name = property("PackageId") || property("AssemblyName") || file;
  manifest.description = property("Description").replaceAll(/\s+/g, " ");
  for (const item of project.children.flatMap(({ children }) => children)) {
    const name = item.attributes.get("Include") ?? "";
    const version = item.attributes.get("Version") ?? textIn(item, "Version");
    if (item.name === "PackageReference" && name !== "" && !manifest.dependencies.some((known) => known.name === name))
      manifest.dependencies.push({
        name,
        version: version.includes("$(") ? "" : version,
        isForDevelopment: item.attributes.get("PrivateAssets") === "all",
      });
  }
};

/** Reads elements, attributes and text. Entities of a document type are not expanded. */
function readXml(text: string): XmlElement {
  const root: XmlElement = { name: "", attributes: new Map(), children: [], text: "" };
  const open = [root];
  for (const [, data, closing, opening, attributes = "", isEmpty, words] of text.matchAll(TOKEN)) {
    const parent = open.at(-1)!;
    if (closing !== undefined) {
      if (parent.name !== closing) throw new Error(`The element ${parent.name} is not closed.`);
      open.pop();
    } else if (opening !== undefined) {
      const pairs = attributes.matchAll(/([\w.:-]+)\s*=\s*(?:"([^"]*)"|'([^']*)')/g);
      const element: XmlElement = {
        name: opening,
        attributes: new Map([...pairs].map(([, key, double, single]) => [key!, decode(double ?? single ?? "")])),
        children: [],
        text: "",
      };
      parent.children.push(element);
      if (!isEmpty) open.push(element);
    } else parent.text += data ?? decode(words ?? "");
  }
  return root;
}

function decode(text: string): string {
  return text.replaceAll(/&(\w+);/g, (entity, name: string) => ENTITIES[name] ?? entity);
}

function child(element: XmlElement, name: string): XmlElement {
  return (
    element.children.find((candidate) => candidate.name === name) ?? {
      name,
      attributes: new Map(),
      children: [],
      text: "",
    }
  );
}

function textIn(element: XmlElement, name: string): string {
  return child(element, name).text.trim();
}
