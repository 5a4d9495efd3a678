// Every setting of a template has a test that shows its effect.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { everySetting } from "./every-setting.ts";
import { SHOWN } from "./settings-shown.ts";

const settings = everySetting([
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
]);
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
