// The accessibility rules of axe-core, run in a page.
import axe from "axe-core";
import type { Page } from "playwright-core";

/** Every broken rule with the elements that break it; empty for a sound page. Checks all rules unless some are named. */
export async function violations(page: Page, rules?: string[]): Promise<string[]> {
  // Through the debugger, because the page's policy rightly lets no foreign script in.
  await page.evaluate(axe.source);
  const options = rules ? { runOnly: rules } : {};
  const broken = await page.evaluate(`axe.run(document, ${JSON.stringify(options)}).then(({ violations }) =>
    violations.map(({ id, nodes }) => id + ": " + nodes.map(({ html, failureSummary }) => html.slice(0, 160) + " " + failureSummary).join(" | ")))`);
  return broken as string[];
}
