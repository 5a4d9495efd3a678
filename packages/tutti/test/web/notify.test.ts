// Notifications of a real browser: only for a person who wants them, and only while they look elsewhere.
import type { Page } from "playwright-core";
import { describe, expect, test } from "vitest";
import { violations } from "./axe.ts";
import { withBrowser } from "./with-browser.ts";
import { mainSession } from "../lab/scenarios.ts";

interface Seen {
  asked: number;
  told: { title: string; body: string; tag: string }[];
}

/** Writes down what the page asks the browser for, and whether it looked if it is seen; `seen.looks` says what it finds. */
const WATCH = `
  window.seen = { asked: 0, told: [], looks: true, checks: 0 };
  const Real = Notification;
  window.Notification = class extends Real {
    constructor(title, options) {
      super(title, options);
      seen.told.push({ title, body: options.body, tag: options.tag });
    }
    static requestPermission() {
      seen.asked++;
      return Real.requestPermission();
    }
  };
  Object.defineProperty(document, "hidden", { get: () => (seen.checks++, !seen.looks) });`;
const seen = (page: Page): Promise<Seen> => page.evaluate("seen");
/** The page's policy lets nobody wait for an expression in it, so it is asked again and again. */
const until = (page: Page, condition: string): Promise<void> => expect.poll(() => page.evaluate(condition)).toBe(true);

describe("notifications in the dashboard", () => {
  const onStage = withBrowser();
  const sessions = mainSession([{ id: "a" }]);

  test(
    "are asked for by a click, shown while nobody looks, and remembered",
    onStage(async (stage) => {
      const page = await stage.page("/", { permissions: ["notifications"] });
      const button = page.getByRole("switch", { name: "Notify me when a run needs me, fails or ends" });
      await button.waitFor();
      await page.evaluate(WATCH);
      expect((await seen(page)).asked).toBe(0);
      await button.click();
      await page.locator('[role="switch"][aria-checked="true"]').waitFor();
      expect((await seen(page)).asked).toBe(1);
      expect(await violations(page)).toEqual([]);

      // What a run is about is not the point here, so none of them is started.
      const begin = (message: string) => stage.begin(sessions, message, { start: false });
      const [first, second, third] = [await begin("One"), await begin("Another"), await begin("A third")];
      await stage.engine.cancel(first.id);
      await until(page, "seen.checks > 0");
      await page.evaluate("seen.looks = false");
      await stage.engine.cancel(second.id);
      await until(page, "seen.told.length > 0");
      await page.getByRole("link", { name: /A third/ }).click();
      await page.getByRole("heading", { name: "A third" }).waitFor();
      await page.getByText("Live").waitFor();
      await stage.engine.cancel(third.id);
      await until(page, "seen.told.length > 1");
      expect((await seen(page)).told).toEqual([
        { title: "The run was cancelled", body: second.id, tag: `${second.id}:2` },
        { title: "The run was cancelled", body: "0 planned\nA third", tag: `${third.id}:2` },
      ]);

      await page.reload();
      await page.locator('[role="switch"][aria-checked="true"]').waitFor();
      await page.locator('[role="switch"]').click();
      await page.reload();
      await page.locator('[role="switch"][aria-checked="false"]').waitFor();
    }),
  );

  test(
    "cannot be switched on where the browser blocks them, and says so",
    onStage(async (stage) => {
      // A browser without a window has nobody to ask, and refuses.
      const page = await stage.page("/", { permissions: [], colorScheme: "dark" });
      const button = page.getByRole("switch", { name: "Notifications of this page are blocked" });
      await button.waitFor();
      expect(await button.isDisabled()).toBe(true);
      expect(await violations(page)).toEqual([]);
    }),
  );
});
