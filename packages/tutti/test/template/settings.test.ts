// Every setting of a template has a test that shows its effect.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { SHOWN } from "./settings-shown.ts";
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
const settings = [
  "config",
  "phases",
  "prompts",
  "hooks",
  "ui",
  "roles",
  "pipeline",
  "team",
  "gate",
  "workspace",
].flatMap((part) => settingsOf(root.properties![part]!, part));
/** The title of a test: the first string after `it(` or `test(`, or after the table of `it.each`. */
const TITLE = /\b(?:it|test)(?:\.each\([^]*?\))?\(\s*"((?:[^"\\]|\\.)*)"/g;
const explained = (setting: string, list: object) =>
  Object.keys(list).some((entry) => (entry.endsWith("*") ? setting.startsWith(entry.slice(0, -1)) : entry === setting));

describe("the settings of a template", () => {
  it("are each covered by a test", () => {
    expect(settings.length).toBeGreaterThan(60);
    expect(settings.filter((setting) => !explained(setting, SHOWN))).toEqual([]);
  });

  it("are covered by tests that exist", () => {
    for (const [setting, [file, title]] of Object.entries(SHOWN)) {
      const text = readFileSync(join(import.meta.dirname, "..", file), "utf8");
      const titles = Array.from(text.matchAll(TITLE), ([, found]) => found!);
      expect(
        titles.some((each) => each.startsWith(title)),
        `${setting}: ${file} has no test "${title}…"`,
      ).toBe(true);
    }
  });

  it("are listed only if they exist", () => {
    for (const entry of Object.keys(SHOWN)) {
      const known = settings.some((setting) =>
        entry.endsWith("*") ? setting.startsWith(entry.slice(0, -1)) : setting === entry,
      );
      expect(known, entry).toBe(true);
    }
  });
});
