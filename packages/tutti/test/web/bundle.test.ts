// The scripts of each view, as a browser loads them before any click.
import { readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { gunzipSync, gzipSync } from "node:zlib";
import { beforeAll, expect, test } from "vitest";
import { buildWeb, webRoot } from "./build-web.ts";

const assets = join(webRoot, "assets");
const MOST_BYTES = 120 * 1024;

beforeAll(() => buildWeb(), 120_000);

const scripts = (): string[] => readdirSync(assets).filter((name) => name.endsWith(".js"));
const read = (name: string): string => readFileSync(join(assets, name), "utf8");

/** The script and everything that it imports at once. */
function closure(name: string, known = new Set<string>()): Set<string> {
  if (known.has(name)) return known;
  known.add(name);
  for (const [, from] of read(name).matchAll(/(?:from|import)\s*"\.\/([^"]+\.js)"/g)) closure(from!, known);
  return known;
}

test.each([
  "index",
  "inbox-page",
  "run-list-page",
  "run-page",
  "new-run-page",
  "costs-page",
  "machine-page",
  "templates-page",
  "schedules-page",
  "hosts-page",
])("%s needs at most 120 kB of compressed scripts", (view) => {
  const find = (start: string) => scripts().find((name) => name.startsWith(`${start}-`))!;
  // `index` loads `app` after the language, which is data.
  const loaded = ["index", "app", view].reduce((known, each) => closure(find(each), known), new Set<string>());
  const bytes = [...loaded].reduce((sum, name) => sum + gzipSync(read(name), { level: 9 }).length, 0);
  expect(bytes).toBeLessThan(MOST_BYTES);
  // The graph loads with the view that shows it, and the page validates nothing.
  for (const name of loaded) expect([name, /reactflow|react-flow__|ZodError/.test(read(name))]).toEqual([name, false]);
});

test("every larger asset has a compressed copy of the same content beside it", () => {
  const large = readdirSync(assets).filter(
    (name) => /\.(js|css|json)$/.test(name) && statSync(join(assets, name)).size >= 1024,
  );
  expect(large.length).toBeGreaterThan(20);
  for (const name of large) {
    const packed = readFileSync(join(assets, `${name}.gz`));
    expect([name, gunzipSync(packed).equals(readFileSync(join(assets, name)))]).toEqual([name, true]);
  }
});
