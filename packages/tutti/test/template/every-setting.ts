// Lists every setting of a template from its schema, so that a new one cannot be forgotten by a test.
import { templateJsonSchema } from "../../src/template/check/template-schema.ts";

interface Node {
  properties?: Record<string, Node>;
  /** Of a record with names of the user, or `false`. */
  additionalProperties?: Node | false;
  items?: Node;
  anyOf?: Node[];
}

/** The node itself, an alternative, or the entries of a list or record: the first that has members. */
function withMembers(node: Node): Node | undefined {
  if (node.properties) return node;
  const inner = [...(node.anyOf ?? []), node.items, node.additionalProperties];
  return inner.flatMap((each) => (each ? (withMembers(each) ?? []) : []))[0];
}

/** Returns the path of every setting, that is, every member that is not a name or text of the template. */
function settingsOf(node: Node, path = ""): string[] {
  const { properties } = withMembers(node) ?? {};
  if (!properties) return [path];
  return Object.entries(properties).flatMap(([name, child]) =>
    settingsOf(child, path === "" ? name : `${path}.${name}`),
  );
}

const root = templateJsonSchema() as Node;

/** The members of the `parts` of a template; without them, of the whole template. */
export const everySetting = (parts = Object.keys(root.properties!)): string[] =>
  parts.flatMap((part) => settingsOf(root.properties![part]!, part));
