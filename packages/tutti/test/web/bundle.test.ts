// The scripts that a browser with an empty cache loads for each screen before the first click.
import { readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { gunzipSync } from "node:zlib";
import { expect, test } from "vitest";
import { webRoot } from "./build-web.ts";
import { FINISHED, HALFWAY, REQUEST } from "./showcase.ts";
import { withBrowser } from "./with-browser.ts";

const assets = join(webRoot, "assets");
const MOST_BYTES = 120 * 1024;
/** The graph loads with the screen that shows it, and its own script is not counted. */
const GRAPH = /^\/assets\/task-graph-/;

/** The compressed sizes of the scripts that the page has loaded. */
const LOADED = `performance.getEntriesByType("resource")
  .map(({ name, encodedBodySize }) => [new URL(name).pathname, encodedBodySize]).filter(([path]) => path.endsWith(".js"))`;

const onStage = withBrowser();

test(
  "every screen loads at most 120 kB of compressed scripts before the first click, besides the graph",
  onStage(async (stage) => {
    const confirmed = async (sessions: object[]) => {
      const { id } = await stage.begin(sessions, REQUEST);
      await stage.until(id, "confirming");
      return id;
    };
    const plan = await confirmed(FINISHED);
    const [over, halfway] = [await confirmed(FINISHED), await confirmed(HALFWAY)];
    for (const id of [over, halfway]) await stage.engine.order(id, "confirm");
    await stage.until(over, "completed");
    await stage.engine.until(halfway, ({ workers }) => workers["operations"]?.currentAction != null);
    const screens: [path: string, content: string][] = [
      ["/", ".plan-head"],
      ["/runs", ".run-row"],
      ["/runs/new", "option"],
      ...["/templates", "/schedules", "/costs", "/machine", "/hosts"].map((path): [string, string] => [path, "h1"]),
      [`/runs/${plan}`, ".task-node"],
      [`/runs/${halfway}`, ".task-node"],
      [`/runs/${halfway}?session=invoices`, ".task-node"],
      [`/runs/${halfway}?view=table`, "[data-row]"],
      [`/runs/${halfway}?view=timeline`, ".worker-card"],
      [`/runs/${over}`, ".task-node"],
      ...["changes", "cost", "log"].map((tab): [string, string] => [`/runs/${over}?tab=${tab}`, ".result"]),
    ];
    const sums: Record<string, number> = {};
    for (const [path, content] of screens) {
      const page = await stage.page(path, { emptyCache: true });
      await page.locator(content).first().waitFor({ state: "attached" });
      // Parts of the screen have scripts of their own.
      await page.waitForLoadState("networkidle");
      const loaded = (await page.evaluate(LOADED)) as [name: string, bytes: number][];
      await page.context().close();
      const counted = loaded.filter(([name]) => !GRAPH.test(name));
      expect([path, loaded.length > counted.length]).toEqual([path, content === ".task-node"]);
      expect([path, counted.filter(([, bytes]) => bytes === 0)]).toEqual([path, []]);
      sums[path] = counted.reduce((sum, [, bytes]) => sum + bytes, 0);
      // The graph is no part of another script, and the page validates nothing.
      const texts = counted.map(([name]) => readFileSync(join(webRoot, name), "utf8"));
      expect([path, texts.some((text) => /reactflow|react-flow__|ZodError/.test(text))]).toEqual([path, false]);
    }
    // Fewer bytes would be a page without its scripts.
    expect(Math.min(...Object.values(sums))).toBeGreaterThan(MOST_BYTES / 10);
    expect(Object.entries(sums).filter(([, bytes]) => bytes > MOST_BYTES)).toEqual([]);
  }),
);

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
