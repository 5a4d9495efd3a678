// Notifications of a real browser: only after the user's consent, and only while the page is hidden.
import type { Page } from "playwright-core";
import { describe, expect, test } from "vitest";
import { violations } from "./axe.ts";
import { withBrowser } from "./with-browser.ts";
import { mainSession } from "../lab/scenarios.ts";

interface Recorded {
  permissionRequests: number;
  shown: { title: string; body: string; tag: string }[];
}

/** Records permission requests, notifications and reads of `document.hidden`; `recorded.visible` sets its value. */
const RECORD = `
  window.recorded = { permissionRequests: 0, shown: [], visible: true, checks: 0 };
  const Real = Notification;
  window.Notification = class extends Real {
    constructor(title, options) {
      super(title, options);
      recorded.shown.push({ title, body: options.body, tag: options.tag });
    }
    static requestPermission() {
      recorded.permissionRequests++;
      return Real.requestPermission();
    }
  };
  Object.defineProperty(document, "hidden", { get: () => (recorded.checks++, !recorded.visible) });`;
const recorded = (page: Page): Promise<Recorded> => page.evaluate("recorded");
/** Polls `condition`, because the page's content policy forbids `waitForFunction`. */
const until = (page: Page, condition: string): Promise<void> => expect.poll(() => page.evaluate(condition)).toBe(true);

describe("Notifications in the dashboard", () => {
  const onStage = withBrowser({ windows: true });
  const sessions = mainSession([{ id: "a" }]);

  test(
    "are turned on by a click, shown while the page is hidden, and remembered",
    onStage(async (stage) => {
      const page = await stage.page("/runs", { permissions: ["notifications"] });
      const button = page.getByRole("switch", { name: "Notify me when a run needs me, fails or ends" });
      await button.waitFor();
      await page.evaluate(RECORD);
      expect((await recorded(page)).permissionRequests).toBe(0);
      await button.click();
      await page.locator('[role="switch"][aria-checked="true"]').waitFor();
      expect((await recorded(page)).permissionRequests).toBe(1);
      expect(await violations(page)).toEqual([]);

      // Cancelling a run is enough for a notification, so none of them is started.
      const begin = (message: string) => stage.begin(sessions, message, { start: false });
      const [first, second, third] = [await begin("One"), await begin("Another"), await begin("A third\u200b")];
      await stage.engine.order(first.id, "cancel");
      await until(page, "recorded.checks > 0");
      await page.evaluate("recorded.visible = false");
      await stage.engine.order(second.id, "cancel");
      await until(page, "recorded.shown.length > 0");
      await page.getByRole("link", { name: /A third/ }).click();
      await page.getByRole("heading", { name: "A third" }).waitFor();
      await page.getByText("Live").waitFor();
      await stage.engine.order(third.id, "cancel");
      await until(page, "recorded.shown.length > 1");
      expect((await recorded(page)).shown).toEqual([
        { title: "The run was cancelled", body: second.id, tag: `${second.id}:2` },
        { title: "The run was cancelled", body: String.raw`0 planned${"\n"}A third\u200b`, tag: `${third.id}:2` },
      ]);

      await page.reload();
      await page.locator('[role="switch"][aria-checked="true"]').waitFor();
      await page.locator('[role="switch"]').click();
      await page.reload();
      await page.locator('[role="switch"][aria-checked="false"]').waitFor();
    }),
  );

  test(
    "cannot be turned on if the browser blocks them, and the switch explains why",
    onStage(async (stage) => {
      // A headless browser cannot ask the user, so it denies the permission.
      const page = await stage.page("/", { permissions: [], colorScheme: "dark" });
      const button = page.getByRole("switch", { name: "Notifications from this page are blocked" });
      await button.waitFor();
      expect(await button.isDisabled()).toBe(true);
      expect(await violations(page)).toEqual([]);
    }),
  );
});
