// Controls a run in a real browser, and answers its inbox items.
import type { Locator } from "playwright-core";
import { describe, expect, test } from "vitest";
import { violations } from "./axe.ts";
import { statusOf, untilStatus, withBrowser } from "./with-browser.ts";
import { done, goodWorker, mainSession, worker } from "../lab/scenarios.ts";
import { openTokens } from "../../src/main/settings.ts";

const firstAttempt = (task: string, turn: object) => ({
  match: { role: "worker", task, attempt: 1 },
  turns: [turn],
});
const failing = (task: string) =>
  firstAttempt(task, {
    block: { phase: "completion", data: { task_id: "{TASK_ID}", status: "failed", error: "no luck" } },
  });

describe("A user of the dashboard", () => {
  const onStage = withBrowser();

  test(
    "pauses and resumes a run and a worker, and cancels and retries a worker",
    onStage(async (stage) => {
      const sessions = [
        ...mainSession([{ id: "a" }, { id: "b" }]),
        firstAttempt("a", { say: "hm", then: "hang" }),
        goodWorker,
      ];
      const { id } = await stage.begin(sessions, "Write two pages");
      await stage.until(id, "confirming");
      await stage.engine.order(id, "confirm");
      const page = await stage.page(`/runs/${id}`);
      await untilStatus(page, "a", "Working");
      await untilStatus(page, "b", "Completed");

      await page.getByRole("button", { name: "Pause", exact: true }).click();
      await page.getByText("Paused by a user.").waitFor();
      await untilStatus(page, "a", "Paused");
      expect(await page.locator(".stepper").innerText()).toContain("paused");
      expect(stage.engine.get(id)!.status).toBe("paused");
      expect(await violations(page)).toEqual([]);
      await page.getByRole("button", { name: "Resume", exact: true }).click();
      await untilStatus(page, "a", "Working");

      await page.locator('.task-node[data-task="a"]').click();
      await page.getByRole("button", { name: "Pause a" }).click();
      await untilStatus(page, "a", "Paused");
      expect(await violations(page)).toEqual([]);
      await page.getByRole("button", { name: "Resume a" }).click();
      await untilStatus(page, "a", "Working");
      await page.getByRole("button", { name: "Cancel a" }).click();
      await page.getByRole("button", { name: "Yes, cancel" }).click();
      await untilStatus(page, "a", "Cancelled");
      await page.getByRole("button", { name: "Retry a" }).click();
      await untilStatus(page, "a", "Completed");
      await page.getByRole("heading", { name: "Success" }).waitFor();
      expect(stage.engine.get(id)!.workers["a"]).toMatchObject({ attempt: 2, retryCount: 1 });
    }),
  );

  test(
    "requests a new plan, skips a task, sets a priority, and retries a failed task",
    onStage(async (stage) => {
      const tasks = [{ id: "a" }, { id: "b", dependencies: ["a"] }, { id: "c" }, { id: "d" }];
      // Without a waiting task, the run could end before the retry of the failed task.
      const waiting = worker("d", { then: "ask:Which?" }, { write: { "d.md": "d" }, block: done({}) });
      const sessions = [...mainSession(tasks), failing("c"), waiting, goodWorker];
      const { id } = await stage.begin(sessions, "Write some pages");
      await stage.until(id, "confirming");
      const page = await stage.page(`/runs/${id}`);
      await page.getByLabel("Request changes").fill("shorter pages");
      await page.getByRole("button", { name: "Request a new plan" }).click();
      await page.getByText("A new plan was requested: shorter pages").waitFor();

      await page.getByLabel("Skip a").check();
      await page.getByLabel("b may start without it").check();
      await page.getByLabel("Priority of c").fill("1");
      expect(await violations(page)).toEqual([]);
      await page.getByRole("button", { name: "Confirm plan" }).click();
      await untilStatus(page, "b", "Completed");
      expect(await statusOf(page, "a")).toBe("Skipped");
      await untilStatus(page, "c", "Failed");
      const failure = page.getByRole("region", { name: "Failed task" });
      await failure.getByText("no luck").waitFor();
      expect(await violations(page)).toEqual([]);
      await failure.getByRole("button", { name: "Try it again" }).click();
      await untilStatus(page, "c", "Completed");
      await failure.waitFor({ state: "detached" });
      await page.getByRole("region", { name: "Question" }).getByRole("textbox").fill("This one");
      await page.getByRole("region", { name: "Question" }).getByRole("button", { name: "Answer" }).click();
      await page.getByRole("heading", { name: "Success" }).waitFor();
      const run = stage.engine.get(id)!;
      expect([run.skipped, run.tasks[2]!.priority]).toEqual([{ a: { satisfied: true } }, 1]);
    }),
  );

  test(
    "makes the decisions that merging needs, and extends a used-up budget",
    onStage(async (stage) => {
      const needs = {
        status: "needs_input",
        summary: "two styles",
        conflicts: [{ type: "naming", description: "Which style?", options: ["camel", "snake"] }],
      };
      const turns = [needs, { status: "success", summary: "all in one" }].map((data) => ({
        block: { phase: "aggregation", data },
      }));
      const main = mainSession([{ id: "a" }, { id: "b" }]).map((session) =>
        session.match.phase === "aggregation" ? { ...session, turns } : session,
      );
      const agent = stage.lab.scenario([...main, goodWorker], "decide.json");
      const { id } = await stage.engine.create({
        templateId: "documentation",
        cwd: stage.lab.repo,
        message: "Write two pages",
        agent,
        config: { autoSpawn: true },
        budget: { turns: 3 },
      });
      await stage.engine.order(id, "start");
      const page = await stage.page(`/runs/${id}`);
      const budget = page.getByRole("region", { name: "Budget" });
      const decision = page.getByRole("region", { name: "Decision" });
      await budget.waitFor();
      await page.getByText("Paused because the budget is used up.").waitFor();
      expect(await page.getByRole("button", { name: "Resume", exact: true }).count()).toBe(0);
      expect(await violations(page)).toEqual([]);
      await budget.getByRole("button").first().click();
      await decision.getByText("Which style?").waitFor();
      await page.getByText("Paused because merging needs a decision.").waitFor();
      expect(await violations(page)).toEqual([]);
      await decision.getByRole("button", { name: "Snake" }).click();
      await decision.waitFor({ state: "detached" });
      await expect.poll(() => stage.engine.get(id)!.decisions.map(({ answer }) => answer)).toEqual(["snake"]);
    }),
  );

  test(
    "copies the command of a button with Alt+click, and gives no order",
    onStage(async (stage) => {
      const page = await stage.page("/", { permissions: ["clipboard-read", "clipboard-write"] });
      const copied = async (button: Locator) => {
        await button.click({ modifiers: ["Alt"] });
        const command = (await button.getAttribute("data-command"))!;
        await page.getByText(`Copied: ${command}`).waitFor();
        return page.evaluate("navigator.clipboard.readText()");
      };
      const hangs = [...mainSession([{ id: "a" }]), firstAttempt("a", { say: "hm", then: "hang" })];
      const { id } = await stage.begin(hangs, "Write a page", { config: { autoSpawn: true } });
      const { workers } = await stage.engine.until(id, (run) => run.workers["a"]?.session.turn != null);
      await page.goto(`${stage.url}/runs/${id}?session=a`);
      const panel = page.locator(".task-details");
      const button = (name: string) => panel.getByRole("button", { name });
      expect(await copied(button("Pause a"))).toBe(`tutti pause ${id} --task a`);
      expect(await copied(button("Cancel a"))).toBe(`tutti cancel ${id} --task a`);
      expect(await button("Yes, cancel").count()).toBe(0);
      expect(stage.engine.get(id)!.workers["a"]!.status).toBe("running");
      await stage.engine.pauseWorker(id, workers["a"]!.sessionId);
      expect(await copied(button("Resume a"))).toBe(`tutti resume ${id} --task a`);
      expect(stage.engine.get(id)!.workers["a"]!.status).toBe("paused");

      const agent = stage.lab.scenario([...mainSession([{ id: "a" }]), goodWorker], "limited.json");
      const content = { templateId: "documentation", cwd: stage.lab.repo, message: "Write one page", agent };
      const limited = await stage.engine.create({ ...content, config: { autoSpawn: true }, budget: { turns: 1 } });
      await stage.engine.order(limited.id, "start");
      await page.goto(`${stage.url}/runs/${limited.id}`);
      await page.getByLabel("New limit").fill("9");
      const [budget] = Object.keys(stage.engine.get(limited.id)!.inbox);
      const setLimit = page.getByRole("button", { name: "Set the limit" });
      expect(await copied(setLimit)).toBe(`tutti answer ${budget} '{"turns":9}'`);
      expect(stage.engine.get(limited.id)!.budget).toEqual({ turns: 1 });

      const silent = { match: { role: "main" }, turns: [{ say: "no" }, { say: "no" }, { say: "no" }] };
      const lost = await stage.begin([silent], "Write nothing");
      await stage.until(lost.id, "error");
      await page.goto(`${stage.url}/runs/${lost.id}`);
      await page.getByLabel("Data as a JSON object").fill(`{"summary": "it's small"}`);
      const [data] = Object.keys(stage.engine.get(lost.id)!.inbox);
      expect(await copied(page.getByRole("button", { name: "Submit data" }))).toBe(
        String.raw`tutti answer ${data} '{"summary":"it'\''s small"}'`,
      );
      expect(stage.engine.get(lost.id)!.status).toBe("error");
    }),
  );

  test(
    "chooses commands of the palette with the arrow keys, and cancels a run there only by choosing it twice",
    onStage(async (stage) => {
      const hangs = [...mainSession([{ id: "a" }]), firstAttempt("a", { say: "hm", then: "hang" })];
      const { id } = await stage.begin(hangs, "Write a page", { config: { autoSpawn: true } });
      for (let i = 0; i < 12; i++) await stage.begin(hangs, `Other ${i}`, { start: false });
      await stage.engine.until(id, ({ workers }) => workers["a"]?.session.turn != null);
      const page = await stage.page(`/runs/${id}`);
      await untilStatus(page, "a", "Working");
      await page.keyboard.press("Control+k");
      const chosen = page.locator(".palette [aria-selected=true]");
      await chosen.waitFor();
      // The list of runs may come later than the run itself, and adds commands above the chosen one.
      await page.getByRole("option", { name: "Write a page" }).waitFor();
      expect(await page.getByRole("option", { name: "Go to the inbox" }).locator("kbd").innerText()).toBe("g i");
      const count = await page.getByRole("option").count();
      for (let at = 1; at < count; at++) await page.keyboard.press("ArrowDown");
      expect(await chosen.innerText()).toMatch(/Write a page|Other/);
      expect(
        await page.evaluate(`(() => {
          const [inner, outer] = [".palette .is-chosen", ".palette"].map((each) => document.querySelector(each).getBoundingClientRect());
          return inner.top >= outer.top - 1 && inner.bottom <= outer.bottom + 1;
        })()`),
      ).toBe(true);
      // Enter right after the text, before the browser does anything else.
      await page.evaluate(`(async () => {
        const field = document.querySelector("[role=combobox]");
        Object.getOwnPropertyDescriptor(HTMLInputElement.prototype, "value").set.call(field, "cancel this");
        field.dispatchEvent(new Event("input", { bubbles: true }));
        await Promise.resolve();
        field.dispatchEvent(new KeyboardEvent("keydown", { key: "Enter", bubbles: true }));
      })()`);
      await page.getByText("It cannot be resumed. Choose it again to confirm.").waitFor();
      expect(stage.engine.get(id)!.status).toBe("running");
      expect(await violations(page)).toEqual([]);
      await page.keyboard.press("Enter");
      await stage.until(id, "cancelled");
      await page.getByRole("dialog").waitFor({ state: "detached" });

      // Keys are hints for a keyboard, and a phone has none.
      const plan = await stage.begin(mainSession([{ id: "a" }]), "Write another page");
      await stage.until(plan.id, "confirming");
      for (const [isMobile, number] of [
        [false, 2],
        [true, 0],
      ] as const) {
        const inbox = await stage.page("/", { isMobile, hasTouch: isMobile, viewport: { width: 400, height: 740 } });
        await inbox.getByRole("button", { name: "Confirm plan" }).waitFor();
        await expect.poll(() => inbox.locator(".item-answer kbd:visible").count()).toBe(number);
      }
    }),
  );

  test(
    "with a view token sees everything, and why the buttons are disabled",
    onStage(
      async (stage) => {
        const sessions = [...mainSession([{ id: "a" }]), firstAttempt("a", { say: "hm", then: "hang" })];
        const { id } = await stage.begin(sessions, "Write a page");
        await stage.until(id, "confirming");
        const { token } = openTokens(stage.lab.data).create({ name: "wall-screen", role: "view" });
        const page = await stage.page();
        await page.goto(`${stage.url}/?token=${token}#/runs/${id}`);
        await stage.engine.order(id, "confirm");
        await untilStatus(page, "a", "Working");
        // The page may know its role later than the run.
        await page.getByText("View only").waitFor();
        const pause = page.getByRole("button", { name: "Pause", exact: true });
        expect(await pause.isDisabled()).toBe(true);
        expect(await pause.getAttribute("title")).toBe(
          'Your token "wall-screen" has the role view. This needs operate.',
        );
        expect(await violations(page)).toEqual([]);
      },
      // The browser logs the rejected request.
      /status of 403/,
    ),
  );
});
