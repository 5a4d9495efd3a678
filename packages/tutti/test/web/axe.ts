import axe from "axe-core";
import type { Page } from "playwright-core";

/** Runs axe-core in the page and returns each violated rule with its elements. Without `rules` it checks all rules. */
export async function violations(page: Page, rules?: string[]): Promise<string[]> {
  // Parts of the frame are there before the script of the page that has the heading.
  await page.locator("h1").first().waitFor({ state: "attached" });
  // `evaluate` uses the debugger; the page's content policy blocks a script tag.
  if (!(await page.evaluate("'axe' in window"))) await page.evaluate(axe.source);
  // No rule that is checked needs the style sheets again, and only violations are described.
  const options = { preload: false, resultTypes: ["violations"], ...(rules && { runOnly: rules }) };
  const broken = await page.evaluate(`axe.run(document, ${JSON.stringify(options)}).then(({ violations }) =>
    violations.map(({ id, nodes }) => id + ": " + nodes.map(({ html, failureSummary }) => html.slice(0, 160) + " " + failureSummary).join(" | ")))`);
  return broken as string[];
}
