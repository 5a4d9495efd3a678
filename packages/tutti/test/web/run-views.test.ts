// Views of one run in a real browser: a long transcript, the result of failed tasks, and the messages and gate of a team.
import type { Page } from "playwright-core";
import { describe, expect, test } from "vitest";
import { violations } from "./axe.ts";
import { untilStatus, withBrowser } from "./with-browser.ts";
import { mainSession, worker } from "../lab/scenarios.ts";
import { completion, message, rejection, reviews, role, say, teamScenario } from "../team/team-scenario.ts";
import { openTokens } from "../../src/main/settings.ts";

const IMAGE = `<img src=x onerror="document.body.dataset.owned='yes'">`;
const TURNED = "invoice\u202Efdp.exe";

/** The parts of `selector` that are cut off by their box, or by a box around it that scrolls. */
const cutOff = (page: Page, selector: string): Promise<unknown> =>
  page.evaluate(`[...document.querySelectorAll(${JSON.stringify(selector)})]
    .filter((e) => e.scrollHeight > e.clientHeight + 1 || e.scrollWidth > e.clientWidth + 1)
    .map((e) => e.className + " " + e.scrollHeight + " in " + e.clientHeight)`);

/** Whether the middle of every element is visible in the window. */
const isInView = (page: Page, selector: string): Promise<unknown> =>
  page.evaluate(`[...document.querySelectorAll(${JSON.stringify(selector)})].every((e) => {
    const { x, y, width, height } = e.getBoundingClientRect();
    const top = document.elementFromPoint(x + width / 2, y + height / 2);
    return top !== null && (e.contains(top) || top.contains(e));
  })`);

describe("A run", () => {
  const onStage = withBrowser();

  test(
    "opens a transcript of 100,000 entries at its end, and finds and links any of them, with one request each",
    onStage(async (stage) => {
      const hangs = worker("a", { say: "hm", then: "hang" });
      const { id } = await stage.begin([...mainSession([{ id: "a" }]), hangs], "Write a page", {
        config: { autoSpawn: true },
      });
      const run = await stage.engine.until(id, ({ workers }) => workers["a"]?.session.turn != null);
      const session = run.workers["a"]!.sessionId;
      await stage.engine.cancelWorker(id, session);
      await stage.engine.until(id, ({ workers }) => workers["a"]!.status === "cancelled");
      const lines = Array.from({ length: 100_000 }, (_, i) =>
        i % 2 === 0
          ? { type: "tool", name: `Tool${i + 1}`, input: { path: `src/part-${i + 1}.ts` } }
          : { type: "assistant", text: `Words ${i + 1}.` },
      );
      stage.writeTranscript(id, session, lines);

      const page = await stage.page(`/runs/${id}`);
      const asked: string[] = [];
      page.on("request", (request) => {
        if (request.url().includes("/transcript?")) asked.push(new URL(request.url()).search);
      });
      await page.locator('.task-node[data-task="a"]').click();
      const transcript = page.getByRole("region", { name: "Transcript" });
      await transcript.getByText("Words 100000.").waitFor();
      await transcript.getByRole("button", { name: "Show earlier (99,700)" }).waitFor();
      expect(await transcript.locator(".entry").count()).toBe(300);
      expect(asked).toEqual(["?tail=300"]);
      // The transcript shows its end, and the search stays at its top.
      expect(
        await page.evaluate(`(() => {
          const [filters, body] = [".entry-filters", ".transcript-body"].map((each) => document.querySelector(each).getBoundingClientRect());
          return Math.round(filters.top - body.top);
        })()`),
      ).toBe(0);

      // The loaded part does not have the words, so the whole transcript is searched. A link shows the entry in its place.
      await transcript.getByLabel("Find in the transcript").fill("PART-4711.TS");
      await transcript.getByText("Nothing matches the filter.").waitFor();
      await transcript.getByRole("button", { name: "Find in the whole transcript" }).click();
      await transcript.getByText("Found in the whole transcript: 1").waitFor();
      await transcript.locator(".entry-tool", { hasText: "Tool4711" }).waitFor();
      expect(await violations(page)).toEqual([]);
      await transcript.getByRole("link", { name: "Link to entry" }).click();
      await transcript.locator(".entry.is-linked", { hasText: "Tool4711" }).waitFor();
      await transcript.getByText("Words 4712.").waitFor();
      await expect.poll(() => isInView(page, ".entry.is-linked")).toBe(true);
      expect(page.url()).toContain("entry=4711");
      expect(asked).toEqual(["?tail=300", "?find=PART-4711.TS&tail=300", "?after=4610&limit=300"]);

      // The link opens the same place for someone else.
      asked.length = 0;
      await page.reload();
      await transcript.locator(".entry.is-linked", { hasText: "Tool4711" }).waitFor();
      expect(asked).toEqual(["?after=4610&limit=300"]);
    }),
  );

  test(
    "that failed lists every reason once and whole, and a failed task shows its error and its button above the transcript",
    onStage(async (stage) => {
      const tasks = Array.from({ length: 8 }, (_, i) => ({ id: `part-${i + 1}` }));
      const fails = {
        match: { role: "worker" },
        turns: [
          {
            tools: Array.from({ length: 200 }, (_, i) => `Tool${i}`),
            block: {
              phase: "completion",
              data: { task_id: "{TASK_ID}", status: "failed", error: "no luck with {TASK_ID}" },
            },
          },
        ],
      };
      const { id } = await stage.begin([...mainSession(tasks), fails], "Write eight pages", {
        config: { autoSpawn: true },
      });
      await stage.engine.until(id, ({ released }) => released);
      const page = await stage.page(`/runs/${id}`);
      const reasons = page.getByRole("list", { name: "8 tasks to review" });
      await reasons.waitFor();
      expect(await reasons.getByRole("listitem").count()).toBe(8);
      expect(await cutOff(page, ".result .plain-list, .result details")).toEqual([]);
      // The sentence stands below the sum of the tasks, not alone in a column of its own.
      const nothing = page.locator(".result-main").getByText("No files changed.");
      const [main, sentence, sum] = [
        await page.locator(".result-main").boundingBox(),
        await nothing.boundingBox(),
        await page.locator(".census").boundingBox(),
      ];
      expect([sentence!.x, sum!.x]).toEqual([main!.x, main!.x]);
      expect(sentence!.y).toBeGreaterThan(sum!.y);
      expect(await page.locator(".result-side").count()).toBe(0);
      // A reason is in the result and in the log, not in every list of tasks.
      await page.locator(".activity").getByText("no luck with part-3").waitFor();
      const words = (await page.locator("main").innerText()).split(/no luck with part-3/i);
      expect(words.length - 1).toBe(2);
      const failed = page.getByRole("region", { name: "Failed tasks" });
      await failed.getByText("Title of part-3").waitFor();
      expect(await violations(page)).toEqual([]);

      await page.locator('.task-node[data-task="part-3"]').click();
      const panel = page.locator(".transcript");
      await panel.getByText("Tool199").waitFor();
      await expect
        .poll(() => page.evaluate("(e => e.scrollTop > 0)(document.querySelector('.transcript-body'))"))
        .toBe(true);
      await panel.getByText("Do part-3", { exact: true }).waitFor();
      await panel.getByText("No luck with part-3", { exact: true }).waitFor();
      await panel.getByRole("button", { name: "Retry part-3" }).waitFor();
      const fixed = [".task-details .long-text", ".task-details .notice", ".task-details .worker-actions .button"];
      for (const part of fixed) expect([part, await isInView(page, part)]).toEqual([part, true]);

      // A failure is left as it is, alone or with all others.
      await failed.getByRole("button", { name: "Leave it: part-3" }).click();
      await expect.poll(() => Object.keys(stage.engine.get(id)!.inbox).length).toBe(7);
      await failed.getByText("Title of part-3").waitFor({ state: "detached" });
      await failed.getByRole("button", { name: "Leave all" }).click();
      await failed.waitFor({ state: "detached" });
      expect(stage.engine.get(id)!.inbox).toEqual({});
    }),
  );

  test(
    "opens at the part that its address names, and otherwise at its beginning",
    onStage(async (stage) => {
      const fails = { phase: "completion", data: { task_id: "{TASK_ID}", status: "failed", error: "no luck" } };
      const tasks = Array.from({ length: 8 }, (_, i) => ({ id: `part-${i + 1}` }));
      const failing = { match: { role: "worker" }, turns: [{ block: fails }] };
      const { id } = await stage.begin([...mainSession(tasks), failing], "Write eight pages", {
        config: { autoSpawn: true },
      });
      await stage.engine.until(id, ({ released }) => released);
      const page = await stage.page();
      for (const [width, address, shows] of [
        [1280, "?tab=log", ".tabs [aria-current]"],
        [1280, "?session=part-3&part=summary", ".transcript-head"],
        [360, "?tab=log", ".tabs [aria-current]"],
        [360, "?session=part-3&part=agents", ".panel-parts [aria-current]"],
      ] as const) {
        await page.setViewportSize({ width, height: 740 });
        await page.goto(`${stage.url}/runs/${id}${address}`);
        await page.locator(".result").waitFor();
        await expect.poll(() => isInView(page, shows)).toBe(true);
      }
      expect(await violations(page)).toEqual([]);
      // The page stays where the user goes.
      await page.keyboard.press("Home");
      await expect.poll(() => page.evaluate("scrollY")).toBe(0);
      await page.setViewportSize({ width: 800, height: 740 });
      await page.goto(`${stage.url}/runs/${id}`);
      await page.locator(".result").waitFor();
      await page.locator(".task-node").first().waitFor();
      expect(await page.evaluate("scrollY")).toBe(0);
    }),
  );

  test(
    "of a team shows its messages and its gate, harmless whatever the agents write, and an admin opens the gate",
    onStage(async (stage) => {
      stage.templates.create({
        id: "own",
        name: "own",
        extends: "hotfix",
        gate: { environments: { live: { override: true }, staging: {} }, environment: "live" },
        team: { rejectionLimit: 0 },
      });
      const words = `${IMAGE} ${TURNED}`;
      const speaks = say(
        message("TASK_ACKNOWLEDGMENT", "DEVELOPER", { status: "acknowledged", note: words }),
        completion("DEVELOPER", { output: { files: [IMAGE], summary: words } }),
      );
      const sessions = teamScenario([
        role("DEVELOPER", { say: speaks, write: { "fix.md": "fixed\n" } }),
        reviews(rejection(words)),
      ]);
      const { id } = await stage.begin(sessions, "Mend it", { templateId: "own", config: { autoSpawn: true } });
      await stage.engine.until(id, ({ released }) => released);

      const page = await stage.page("/");
      const item = page.getByRole("region", { name: "Gate of deployment" });
      await item.waitFor();
      expect(await item.innerText()).toMatch(/A deployment was refused[\s\S]*High risk[\s\S]*Environment\s+live/);
      await expectHarmless(page);
      expect(await violations(page)).toEqual([]);

      await page.goto(`${stage.url}/runs/${id}`);
      await page.getByRole("link", { name: "Messages", exact: true }).click();
      const messages = page.getByRole("region", { name: "Messages" });
      await messages.getByText("TASK_ASSIGNMENT").first().waitFor();
      const rows = await messages.locator(".tab-rows > li").allInnerTexts();
      expect(rows.at(-1)).toMatch(/\d\d:\d\d:\d\d\s+acted\s+ORCHESTRATOR → DEVELOPER\s+TASK_ASSIGNMENT\s+developer/);
      const answer = messages.locator(".tab-rows > li", { hasText: /DEVELOPER → ORCHESTRATOR\s*TASK_COMPLETION/ });
      await answer.getByText("Content").click();
      expect(await answer.locator(".long-text").innerText()).toContain(String.raw`invoice\u202efdp.exe`);
      expect(await answer.locator(".long-text").innerText()).toContain("<img src=x");
      await expectHarmless(page);
      expect(await violations(page)).toEqual([]);

      // A token that may operate runs may not open a gate, and sees why.
      const live = page.getByRole("region", { name: "Gate of live" });
      expect(await live.innerText()).toMatch(/closed[\s\S]*Reasons/);
      expect(await page.getByRole("region", { name: "Gate of staging" }).getByRole("button").count()).toBe(0);
      const { token } = openTokens(stage.lab.data).create({ name: "helper", role: "operate" });
      const helper = await stage.page(`/runs/${id}?tab=messages`, { token });
      const refused = helper.getByRole("button", { name: "Open without approval" });
      await expect.poll(() => refused.getAttribute("title")).toContain("This needs admin.");
      await helper.context().close();

      const open = live.getByRole("button", { name: "Open without approval" });
      expect(await open.isDisabled()).toBe(true);
      await live.getByLabel("Reason to open the gate of live").fill(`An outage ${IMAGE}`);
      const escaped = `An outage ${IMAGE}`.replaceAll("'", String.raw`'\''`);
      expect(await open.getAttribute("data-command")).toBe(`tutti override ${id} live '${escaped}'`);
      await open.click();
      await live.getByText("overridden", { exact: true }).waitFor();
      expect(await live.innerText()).toMatch(/Overridden\s+by the user: An outage <img/);
      await expectHarmless(page);
      await page.getByRole("button", { name: "Try it again" }).click();
      await page.getByRole("link", { name: "Tasks", exact: true }).click();
      await untilStatus(page, "deployment", "Completed");
      await page.setViewportSize({ width: 360, height: 740 });
      await page.getByRole("link", { name: "Messages", exact: true }).click();
      await live.waitFor();
      await expectHarmless(page);

      // A newer server may have states that this page does not know.
      const count = await messages.locator(".tab-rows > li").count();
      await page.route(`**/${id}/snapshot`, async (route) => {
        const body = (await (await route.fetch()).json()) as { run: { teamMessages: object[] } };
        const teamMessages = body.run.teamMessages.map((each) => ({ ...each, state: "pondered" }));
        await route.fulfill({ json: { ...body, run: { ...body.run, teamMessages } } });
      });
      await page.reload();
      await messages.getByText("TASK_ASSIGNMENT").first().waitFor();
      expect(await messages.locator(".tab-rows > li").count()).toBe(count);
    }),
  );

  test(
    "follows `ui` of its template: the color of its mark, the tokens of its plan, the progress in its graph (D4-398)",
    onStage(async (stage) => {
      const looks = { usual: {}, plain: { color: "#123456", showTokenEstimate: false, showProgressBar: false } };
      const progress = { task_id: "a", status: "in_progress", progress_percent: 40, current_action: "reading" };
      const hangs = worker("a", { block: { phase: "progress", data: progress }, then: "hang" });
      const page = await stage.page("/");
      const bar = page.locator('.task-node[data-task="a"] .task-node-bar span');
      const terms = page.locator("dl.evidence").first();
      const shown: unknown[] = [];
      for (const [templateId, ui] of Object.entries(looks)) {
        stage.templates.create({ id: templateId, name: templateId, extends: "_default", ui });
        const { id } = await stage.begin([...mainSession([{ id: "a" }]), hangs], "Write a page", { templateId });
        await page.goto(`${stage.url}/runs/${id}`);
        await page.locator(".plan-head").waitFor();
        const ofPlan = await terms.innerText();
        await stage.engine.order(id, "confirm");
        await stage.engine.until(id, ({ workers }) => workers["a"]?.progress === 40);
        await untilStatus(page, "a", "Working");
        await expect.poll(() => bar.getAttribute("style")).toBe(`width: ${templateId === "plain" ? 0 : 40}%;`);
        const color = await page.evaluate("getComputedStyle(document.querySelector('.facts dt[style]')).color");
        await page.getByRole("link", { name: "Plan", exact: true }).click();
        const ofTab = await terms.innerText();
        shown.push([color, ofPlan.includes("tokens"), ofTab.includes("tokens")]);
      }
      expect(shown).toEqual([
        ["rgb(102, 102, 102)", true, true],
        ["rgb(18, 52, 86)", false, false],
      ]);
    }),
  );
});

/** Nothing was executed, no markup was made of words, and nothing is wider than the window. */
async function expectHarmless(page: Page): Promise<void> {
  expect(await page.evaluate("document.body.dataset.owned ?? null")).toBeNull();
  expect(await page.locator("main img, main script, main iframe").count()).toBe(0);
  expect(await page.evaluate("document.documentElement.scrollWidth <= innerWidth")).toBe(true);
  expect(await page.evaluate("/[\\u202a-\\u202e\\u2066-\\u2069]/.test(document.body.innerText)")).toBe(false);
}
