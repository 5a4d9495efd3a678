// The accessibility rules of axe-core, run in a page.
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import type { Page } from "playwright-core";

const source = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

/** Every broken rule with the elements that break it; empty for a sound page. */
export async function violations(page: Page): Promise<string[]> {
  // Through the debugger, because the page's policy rightly lets no foreign script in.
  await page.evaluate(source);
  const broken = await page.evaluate(`axe.run(document).then(({ violations }) =>
    violations.map(({ id, nodes }) => id + ": " + nodes.map(({ html, failureSummary }) => html.slice(0, 160) + " " + failureSummary).join(" | ")))`);
  return broken as string[];
}
