// Answers to inbox items in a real browser: drafts, evidence, keys, and the reasons of disabled buttons.
import type { Locator } from "playwright-core";
import { describe, expect, test } from "vitest";
import { violations } from "./axe.ts";
import { withBrowser } from "./with-browser.ts";
import { done, goodWorker, mainSession, worker } from "../lab/scenarios.ts";

const onStage = withBrowser();

describe("A plan in the inbox", () => {
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
      expect(await card.locator(".button-primary").allInnerTexts()).toEqual([expect.stringMatching(/^Confirm plan/)]);
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
      // Nothing can be confirmed, so the words are the first choice.
      expect(await card.locator(".button-primary").allInnerTexts()).toEqual(["Request a new plan"]);
      await card.getByLabel("Request changes").fill("Without the circle");
      await page.locator("main").focus();
      await page.keyboard.press("a");
      expect(await card.getByLabel("Request changes").inputValue()).toBe("Without the circle");
    }),
  );
});

describe("An item in the inbox", () => {
  test(
    "shows both sides of a conflict, and a number key takes one of them",
    onStage(async (stage) => {
      stage.templates.create({
        id: "asks",
        name: "asks",
        extends: "documentation",
        phases: { aggregation: { conflictResolution: "ask" } },
      });
      const writes = (task: string) =>
        worker(task, { write: { "shared.md": `# From ${task}\n` }, block: done({ summary: `I wrote ${task}` }) });
      const sessions = [...mainSession([{ id: "a" }, { id: "b" }]), writes("a"), writes("b")];
      const { id } = await stage.begin(sessions, "Write it", { templateId: "asks", config: { autoSpawn: true } });
      await stage.until(id, "paused");
      const page = await stage.page();
      const item = page.getByRole("region", { name: "Decision", exact: true });
      await item.waitFor();
      const evidence = Object.values(stage.engine.get(id)!.inbox)[0]!.evidence as {
        sides: { taskId: string; ref: string }[];
      };
      // The task that was merged first is the first side.
      const tasks = evidence.sides.map(({ taskId }) => taskId);
      expect(tasks.toSorted()).toEqual(["a", "b"]);
      for (const { taskId: task, ref } of evidence.sides) {
        const side = item.getByRole("region", { name: `Side of ${task}` });
        expect(await side.innerText()).toMatch(
          new RegExp(`^${task}\\s+Title of ${task}\\s+Do ${task}\\s+The worker says\\s+I wrote ${task}\\s+Version\\s+`),
        );
        expect(await side.innerText()).toContain(ref);
      }
      expect(await violations(page)).toEqual([]);
      await page.setViewportSize({ width: 360, height: 740 });
      expect(await page.evaluate("document.documentElement.scrollWidth <= innerWidth")).toBe(true);

      expect(await item.getByRole("button").allInnerTexts()).toContain(`Take the version of ${tasks[1]}\n2`);
      await page.evaluate("localStorage.setItem('tutti-language', 'fr')");
      await page.reload();
      await page.getByRole("button", { name: `Prendre la version de ${tasks[1]}` }).waitFor();
      await page.evaluate("localStorage.removeItem('tutti-language')");
      await page.reload();
      await item.getByRole("button", { name: `Take the version of ${tasks[1]}` }).waitFor();
      await page.locator("main").focus();
      await page.keyboard.press("9");
      await page.keyboard.press("2");
      await expect
        .poll(() => stage.engine.get(id)!.decisions.map(({ answer }) => answer))
        .toEqual([`take the version of ${tasks[1]}`]);
    }),
  );

  test(
    "stays on the screen when a more costly one arrives, also beside its run, and a key answers it",
    onStage(async (stage) => {
      const asks = (task: string) => worker(task, { then: `ask:Which colour for ${task}?` }, { block: done({}) });
      const { id } = await stage.begin([...mainSession([{ id: "a" }]), asks("a")], "Paint it", {
        config: { autoSpawn: true },
      });
      await stage.engine.until(id, ({ inbox }) => Object.keys(inbox).length === 1);
      const page = await stage.page();
      await page.getByRole("heading", { name: "a asks" }).waitFor();
      await page.keyboard.press("r");
      await page.keyboard.type("Gre");
      const plan = await stage.begin(mainSession([{ id: "b" }]), "Write a page");
      await stage.until(plan.id, "confirming");
      await page.locator(".inbox-item").nth(1).waitFor();
      expect(await page.locator(".inbox-item").first().innerText()).toContain("A plan waits for you");
      await page.keyboard.type("en");
      expect(await page.getByLabel("Your answer").inputValue()).toBe("Green");
      await page.keyboard.press("Control+Enter");
      await stage.engine.until(id, ({ inbox }) => Object.keys(inbox).length === 0);
      await page.getByRole("heading", { name: "A plan waits for you" }).waitFor();

      // The page of a run keeps the keys of an item, too.
      const failed = { phase: "completion", data: { task_id: "{TASK_ID}", status: "failed", error: "no luck" } };
      const gate = stage.lab.gate();
      const later = worker("b", { waitForFile: gate.file, then: "ask:Which size?" }, { block: done({}) });
      const sessions = [...mainSession([{ id: "a" }, { id: "b" }]), worker("a", { block: failed }), later];
      const both = await stage.begin(sessions, "Paint both", { config: { autoSpawn: true } });
      await stage.engine.until(both.id, ({ inbox }) => Object.keys(inbox).length === 1);
      await page.goto(`${stage.url}/runs/${both.id}`);
      const [failure, question] = ["Failed task of a", "Question of b"].map((name) =>
        page.getByRole("region", { name }),
      );
      await failure!.locator("kbd").first().waitFor();
      gate.open();
      await question!.waitFor();
      expect(await failure!.locator("kbd").count()).toBeGreaterThan(0);
      expect(await question!.locator("kbd").count()).toBe(0);
    }),
  );

  test(
    "is answered by a key that is held down, and the next one is not",
    onStage(async (stage) => {
      for (const request of ["Write the first page", "Write the second page"]) {
        const { id } = await stage.begin([...mainSession([{ id: "a" }]), goodWorker], request);
        await stage.until(id, "confirming");
      }
      const page = await stage.page();
      const answers: string[] = [];
      page.on("request", (request) => void (request.method() === "POST" && answers.push(request.url())));
      const link = page.locator(".inbox-run a");
      await link.getByText("Write the first page").waitFor();
      await page.keyboard.down("a");
      await link.getByText("Write the second page").waitFor();
      await page.keyboard.down("a");
      await page.keyboard.down("a");
      await page.keyboard.up("a");
      await page.keyboard.press("o");
      await page.getByRole("heading", { name: "Confirm this plan of 1 task?" }).waitFor();
      expect(answers.length).toBe(1);
    }),
  );

  test(
    "says why its button is disabled",
    onStage(async (stage) => {
      const { id } = await stage.begin(mainSession([{ id: "a" }]), "Write a page");
      await stage.until(id, "confirming");
      const page = await stage.page();
      await page.route("**/api/inbox*", async (route) => {
        const items = (await (await route.fetch()).json()) as object[];
        const evidence = { kind: "usd", used: 1, limit: 1 };
        await route.fulfill({
          json: [
            { ...items[0], id: "money", kind: "budget", options: ["as much again", "cancel"], evidence },
            { ...items[0], id: "data", kind: "data", evidence: undefined },
          ],
        });
      });
      await page.goto(`${stage.url}/?item=money`);
      const stateOf = async (button: Locator) => [
        await button.isDisabled(),
        (await button.getAttribute("title")) || null,
      ];
      const limit = page.getByRole("button", { name: "Set the limit" });
      await limit.waitFor();
      await expect.poll(() => stateOf(limit)).toEqual([true, "Enter an amount above 0."]);
      await page.getByLabel("New limit").fill("2");
      await expect.poll(() => stateOf(limit)).toEqual([false, null]);

      await page.goto(`${stage.url}/?item=data`);
      const submit = page.getByRole("button", { name: "Submit data" });
      await submit.waitFor();
      await expect.poll(() => stateOf(submit)).toEqual([true, "Enter a JSON object."]);
      await page.getByLabel("Data as a JSON object").fill("[1");
      await page.getByText("This is not a JSON object.").waitFor();
      await page.getByLabel("Data as a JSON object").fill('{"status":"success"}');
      await page.getByText("This is not a JSON object.").waitFor({ state: "detached" });
      await expect.poll(() => stateOf(submit)).toEqual([false, null]);
    }),
  );
});
