// Gives a test file one browser, and each test a `Stage` of its own.
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, expect, type TestContext } from "vitest";
import { BROWSER, HEADLESS_BROWSER, launch } from "./browser.ts";
import { buildWeb } from "./build-web.ts";
import { ReusedContext } from "./reused-context.ts";
import { CONTEXT_OPTIONS, Stage } from "./stage.ts";
import { findOrInstall, skipWithout } from "../lab/required-program.ts";

type OnStage = (act: (stage: Stage) => Promise<void>, expected?: RegExp) => (context: TestContext) => Promise<void>;

/**
 * Call it once per file. The returned function wraps the body of a test, which then fails on any console error or warning,
 * page error or external request that `expected` does not match. Without a browser the test is skipped; with `CI=true` it
 * fails.
 */
export function withBrowser({ windows = false } = {}): OnStage {
  const program = windows ? BROWSER : HEADLESS_BROWSER;
  let browser: Browser | null = null;
  let reused: ReusedContext;
  beforeAll(async () => {
    const executable = findOrInstall(program);
    if (executable === null) return;
    await buildWeb();
    browser = await launch(executable);
    reused = new ReusedContext(browser, CONTEXT_OPTIONS);
  });
  afterAll(() => browser?.close());

  return (act, expected) => async (context) => {
    if (browser === null) return skipWithout(program, context);
    const stage = await Stage.open(browser, reused);
    try {
      await act(stage);
      expect(stage.troubles.filter((trouble) => !expected?.test(trouble))).toEqual([]);
    } catch (error) {
      await reused.drop();
      throw error;
    } finally {
      await stage.close();
    }
  };
}

/** The status of a task in the graph. */
export const statusOf = (page: Page, taskId: string): Promise<string | null> =>
  page.locator(`.task-node[data-task="${taskId}"]`).getAttribute("data-status");

/** Waits until an element has kept its place for some frames. A graph fits its frame in steps, each some frames later. */
export async function untilStill(page: Page, selector: string): Promise<void> {
  await page.evaluate(`(async () => {
    let last;
    for (let same = 0; same < 5;) {
      await new Promise((done) => requestAnimationFrame(done));
      const place = JSON.stringify(document.querySelector(${JSON.stringify(selector)})?.getBoundingClientRect());
      same = place !== undefined && place === last ? same + 1 : 0;
      last = place;
    }
  })()`);
}

export async function untilStatus(page: Page, taskId: string, status: string): Promise<void> {
  await page.locator(`.task-node[data-task="${taskId}"][data-status="${status}"]`).waitFor();
}
