// Every setting of a template has an effect that a test shows, or stands in the list of those whose part is not built yet.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { SHOWN, WAITING } from "./settings-shown.ts";
import { templateJsonSchema } from "../../src/template/template-schema.ts";

interface Node {
  properties?: Record<string, Node>;
  anyOf?: Node[];
}

/** The path of every setting: what a template file can say that is no name or text of its own. */
function settingsOf(node: Node, path = ""): string[] {
  const { properties } = node.properties ? node : (node.anyOf?.find((each) => each.properties) ?? {});
  if (!properties) return [path];
  return Object.entries(properties).flatMap(([name, child]) =>
    settingsOf(child, path === "" ? name : `${path}.${name}`),
  );
}

const root = templateJsonSchema() as Node;
const settings = ["config", "phases", "prompts", "hooks", "ui"].flatMap((part) =>
  settingsOf(root.properties![part]!, part),
);
/** The title of a test: the first text after `it(` or after the table of `it.each`. */
const TITLE = /\bit(?:\.each\([^]*?\))?\(\s*"((?:[^"\\]|\\.)*)"/g;
const explained = (setting: string, list: object) =>
  Object.keys(list).some((entry) => (entry.endsWith("*") ? setting.startsWith(entry.slice(0, -1)) : entry === setting));

describe("the settings of a template", () => {
  it("are each shown by a test, or wait for a piece of work that is named", () => {
    expect(settings.length).toBeGreaterThan(60);
    expect(settings.filter((setting) => explained(setting, SHOWN) === explained(setting, WAITING))).toEqual([]);
  });

  it("are shown by tests that exist", () => {
    for (const [setting, [file, title]] of Object.entries(SHOWN)) {
      const text = readFileSync(join(import.meta.dirname, "..", file), "utf8");
      const titles = Array.from(text.matchAll(TITLE), ([, found]) => found!);
      expect(
        titles.some((each) => each.startsWith(title)),
        `${setting}: ${file} has no test "${title}…"`,
      ).toBe(true);
    }
  });

  it("are named in the lists only if they exist", () => {
    for (const entry of [...Object.keys(SHOWN), ...Object.keys(WAITING)]) {
      const known = settings.some((setting) =>
        entry.endsWith("*") ? setting.startsWith(entry.slice(0, -1)) : setting === entry,
      );
      expect(known, entry).toBe(true);
    }
  });
});
