// Answers to inbox items in a real browser: drafts, evidence, keys, and the reasons of disabled buttons.
import { describe, expect, test } from "vitest";
import { withBrowser } from "./with-browser.ts";
import { goodWorker, mainSession } from "../lab/scenarios.ts";

describe("A plan in the inbox", () => {
  const onStage = withBrowser();

  test(
    "is not confirmed without the edits made in the run, and words that request changes are a draft of their own",
    onStage(async (stage) => {
      const { id } = await stage.begin([...mainSession([{ id: "a" }, { id: "b" }]), goodWorker], "Write two pages");
      await stage.until(id, "confirming");
      const page = await stage.page(`/runs/${id}`);
      const words = page.getByLabel("Request changes");
      await page.getByLabel("Skip b").check();
      await words.fill("Rather c");
      await page.reload();
      await page.getByRole("heading", { name: "Confirm this plan of 1 task?" }).waitFor();
      expect(await words.inputValue()).toBe("Rather c");
      expect(await page.getByRole("region", { name: /^Confirm this plan/ }).innerText()).toMatch(/Medium risk/);

      await page.locator("main").focus();
      await page.keyboard.press("g");
      await page.keyboard.press("i");
      const card = page.getByRole("region", { name: "Plan", exact: true });
      await card.getByText("You edited this plan, and an answer from here would not have your edits.").waitFor();
      expect(await words.inputValue()).toBe("Rather c");
      expect(await card.getByRole("button", { name: "Confirm plan" }).isDisabled()).toBe(true);
      await page.locator("main").focus();
      await page.keyboard.press("a");
      // An answer would clear the draft at once.
      expect(await words.inputValue()).toBe("Rather c");
      await card.getByRole("link", { name: "Confirm it in the run" }).click();
      await page.getByRole("heading", { name: "Confirm this plan of 1 task?" }).waitFor();
      expect(stage.engine.get(id)!.status).toBe("confirming");
      // The user decides against the words, so the page does not report them as lost.
      await page.getByRole("button", { name: "Confirm plan" }).click();
      await page.getByRole("heading", { name: "Success" }).waitFor();
      expect(stage.engine.get(id)!.skipped).toHaveProperty("b");
      expect(await page.getByText("your words were not sent").count()).toBe(0);

      // Another page confirms the plan: both drafts of this one are reported.
      const again = await stage.begin([...mainSession([{ id: "a" }, { id: "b" }]), goodWorker], "Write them again");
      await stage.until(again.id, "confirming");
      await page.goto(`${stage.url}/runs/${again.id}`);
      await page.getByLabel("Skip b").check();
      await words.fill("Rather d");
      await page.goto(`${stage.url}/`);
      await card.getByRole("button", { name: "Discard my edits" }).click();
      await expect.poll(() => card.getByRole("button", { name: "Confirm plan" }).isEnabled()).toBe(true);
      await stage.engine.order(again.id, "confirm");
      await page.getByText("This was answered elsewhere, so your words were not sent").waitFor();
      await page.getByText("Rather d").waitFor();
      expect(await page.getByText("Your edits of the plan were not applied.").count()).toBe(0);
    }),
  );

  test(
    "cannot be confirmed if it is invalid",
    onStage(async (stage) => {
      const circle = [
        { id: "a", dependencies: ["b"] },
        { id: "b", dependencies: ["a"] },
      ];
      const { id } = await stage.begin(mainSession(circle), "Go round in circles");
      await stage.until(id, "confirming");
      const page = await stage.page();
      const card = page.getByRole("region", { name: "Plan", exact: true });
      await card.getByText(/The plan is invalid: .*cycle/).waitFor();
      expect(await card.getByRole("button", { name: "Confirm plan" }).count()).toBe(0);
      await card.getByLabel("Request changes").fill("Without the circle");
      await page.locator("main").focus();
      await page.keyboard.press("a");
      expect(await card.getByLabel("Request changes").inputValue()).toBe("Without the circle");
    }),
  );
});
