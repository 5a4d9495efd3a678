// A part of the page that fails in a real browser leaves a notice in its place, and the rest of the page alone.
import { describe, expect, test } from "vitest";
import { withBrowser } from "./with-browser.ts";
import { goodWorker, mainSession } from "../lab/scenarios.ts";

describe("An error in a part of the page", () => {
  const onStage = withBrowser();

  test(
    "leaves a notice, also in the palette and in the frame",
    onStage(async (stage) => {
      await stage.begin([...mainSession([{ id: "a" }]), goodWorker], "Write a page", { start: false });
      const page = await stage.page("/machine");
      await page.route("**/api/orchestrator?*", async (route) => {
        const runs = (await (await route.fetch()).json()) as object[];
        await route.fulfill({ json: runs.map((run) => ({ ...run, userRequest: null })) });
      });
      await page.reload();
      await page.getByRole("heading", { name: "Machine" }).waitFor();
      await page.getByText("Live", { exact: true }).waitFor();
      await page.keyboard.press("Control+k");
      await page.getByRole("alert").getByText("This dialog cannot be shown:").waitFor();
      await page.getByRole("heading", { name: "Machine" }).waitFor();
      await page.unroute("**/api/orchestrator?*");
      await stage.begin([goodWorker], "Write another page", { start: false });
      await page.keyboard.press("Control+k");
      await page.getByRole("alert").waitFor({ state: "detached" });

      await page.addInitScript(`Object.defineProperty(window, "Notification", {
        value: { get permission() { throw new Error("No permission."); } },
      })`);
      await page.reload();
      await page.getByRole("alert").getByText("This page cannot be shown: Error: No permission.").waitFor();
    }, /Cannot read properties of null|No permission\./),
  );

  test(
    "of a run leaves the other parts alone",
    onStage(async (stage) => {
      const { id } = await stage.begin([...mainSession([{ id: "a" }]), goodWorker], "Write a page", { start: false });
      const page = await stage.page(`/runs/${id}`);
      await page.getByRole("button", { name: "Start" }).waitFor();
      await page.route(`**/${id}/snapshot`, async (route) => {
        const body = (await (await route.fetch()).json()) as { run: object };
        const errors = [{ error: null, timestamp: 0 }];
        await route.fulfill({ json: { ...body, run: { ...body.run, errors, budget: null } } });
      });
      await page.route(`**/${id}/events?tail=*`, async (route) => {
        const frames = (await (await route.fetch()).json()) as object[];
        await route.fulfill({ json: frames.map((frame) => ({ ...frame, timestamp: "never" })) });
      });
      const draft = { item: "gone", part: "words", run: id, title: null, text: "My words" };
      await page.evaluate(`sessionStorage.setItem("tutti-drafts", ${JSON.stringify(JSON.stringify([draft]))})`);
      await page.reload();
      for (const part of ["The header", "The state of the run", "Your unsent drafts", "The activity"])
        await page.getByRole("alert").getByText(`${part} cannot be shown:`).waitFor();
      await page.getByRole("link", { name: "Changes", exact: true }).waitFor();
      expect(await page.getByText("This page cannot be shown").count()).toBe(0);
    }, /Cannot read properties of null|Invalid time value/),
  );
});
