// The map of the code: AGENTS.md names files that exist, folders stay small, and a type name means one thing.
import { existsSync, globSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";

const ROOT = join(import.meta.dirname, "../../../..");
const MAX_FILES = 22;

const sources = globSync("packages/{local-agent,tutti,web}/src/**/*.{ts,tsx}", { cwd: ROOT });

test("every file and folder that AGENTS.md and docs/README.md name exists", () => {
  const map = readFileSync(join(ROOT, "AGENTS.md"), "utf8");
  const named = [...map.matchAll(/`([\w./-]+\/|[\w./-]+\.(?:tsx?|md|json))`/g)].map(([, path]) => path!);
  expect(named.length).toBeGreaterThan(60);
  const places = ["", "packages/tutti/src", "packages/tutti/test", "packages/local-agent/src"];
  const subfolders = (path: string) =>
    /^[\w-]+\/$/.test(path) ? globSync(`packages/tutti/src/*/${path}`, { cwd: ROOT }) : [];
  const isMissing = (path: string) =>
    !places.some((place) => existsSync(join(ROOT, place, path))) && subfolders(path).length === 0;
  // A bare file name stands beside the folder of its row.
  const files = named.filter((path) => path.includes("/") && !path.startsWith("refs/"));
  expect(files.filter(isMissing)).toEqual([]);
  const index = readFileSync(join(ROOT, "docs/README.md"), "utf8");
  const links = [...index.matchAll(/\]\(([^)]+)\)/g)].map(([, link]) => join("docs", link!));
  expect(links.filter((link) => !existsSync(join(ROOT, link)))).toEqual([]);
  const pages = globSync("docs/*.md", { cwd: ROOT }).filter((page) => page !== "docs/README.md");
  expect(pages.filter((page) => !links.includes(page))).toEqual([]);
});

test("every source file that the documentation names exists", () => {
  const pages = globSync("{*.md,docs/**/*.md}", { cwd: ROOT });
  const named = pages.flatMap((page) => {
    const text = readFileSync(join(ROOT, page), "utf8");
    // A folder in capitals is a placeholder, such as the name of a driver.
    return [...text.matchAll(/`((?:[a-z][\w.-]*\/)+[\w.-]+\.(?:tsx?|mjs))`/g)].map(([, path]) => ({
      page,
      path: path!,
    }));
  });
  expect(named.length).toBeGreaterThan(100);
  const places = ["", "packages/tutti", "packages/tutti/src", "packages/tutti/test", "packages/web/src"];
  expect(named.filter(({ path }) => !places.some((place) => existsSync(join(ROOT, place, path))))).toEqual([]);
});

test(`no source folder holds more than ${MAX_FILES} files`, () => {
  const counts = new Map<string, number>();
  for (const file of sources) counts.set(dirname(file), (counts.get(dirname(file)) ?? 0) + 1);
  expect([...counts].filter(([, count]) => count > MAX_FILES)).toEqual([]);
});

test("every exported type name is declared in one file", () => {
  const files = new Map<string, Set<string>>();
  for (const file of sources) {
    // The sample project of the rehearsal is code in a string.
    if (file.endsWith("sample-project.ts")) continue;
    const text = readFileSync(join(ROOT, file), "utf8");
    for (const [, name] of text.matchAll(/^export (?:abstract )?(?:interface|type|class) (\w+)/gm))
      files.set(name!, (files.get(name!) ?? new Set()).add(file));
  }
  expect(files.size).toBeGreaterThan(500);
  expect([...files].filter(([, declared]) => declared.size > 1).map(([name]) => name)).toEqual([]);
});
