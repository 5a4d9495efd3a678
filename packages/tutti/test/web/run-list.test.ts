// The list of runs and the form of a new one in a real browser: filters, orders to several runs, thousands of rows,
// variables and limits.
import type { Page } from "playwright-core";
import { describe, expect, test } from "vitest";
import { violations } from "./axe.ts";
import { withBrowser } from "./with-browser.ts";
import { goodWorker, mainSession, worker } from "../lab/scenarios.ts";
import type { ListedRun } from "../../src/client/run-summary.ts";

const hangs = worker("a", { say: "hm", then: "hang" });
const requests = (page: Page) => page.locator(".run-row-request").allInnerTexts();

describe("The list of runs", () => {
  const onStage = withBrowser();

  test(
    "pauses, resumes and cancels all runs that a filter leaves, and leads out of a filter without runs",
    onStage(async (stage) => {
      const sessions = [...mainSession([{ id: "a" }]), hangs];
      const config = { autoSpawn: true };
      const ids: string[] = [];
      for (const [index, message] of ["First page", "Second page", "Another thing"].entries()) {
        const { id } = await stage.begin(sessions, message, { folder: `clone-${index}`, config });
        ids.push(id);
      }
      const [first, second, other] = ids as [string, string, string];
      for (const id of ids) await stage.engine.until(id, ({ workers }) => workers["a"]?.session.turn != null);
      const page = await stage.page("/runs");
      const bar = page.getByRole("region", { name: "Selected runs" });
      const statuses = () => ids.map((id) => stage.engine.get(id)!.status);
      await page.getByRole("button", { name: "Running", exact: true }).click();
      await page.getByLabel("Find runs").fill("page");
      await expect.poll(() => new URL(page.url()).search).toBe("?state=running&q=page");
      await expect.poll(() => requests(page)).toEqual(["Second page", "First page"]);
      await page.getByRole("button", { name: "Select all 2" }).click();
      await bar.getByText("2 runs selected").waitFor();
      expect(await violations(page)).toEqual([]);
      await bar.getByRole("button", { name: "Pause 2" }).click();
      await expect.poll(statuses).toEqual(["paused", "paused", "running"]);

      // No run of these words is at work now. The filter can be cleared where it leaves nothing.
      await page.getByText("No run matches the filter.").waitFor();
      await page.getByRole("link", { name: "Clear the filter" }).click();
      await expect.poll(() => requests(page)).toEqual(["Another thing", "Second page", "First page"]);
      expect(new URL(page.url()).search).toBe("");
      // The engine has an order before the page has the answer that clears the selection.
      await bar.waitFor({ state: "detached" });

      // The selection grows from one run to all; each button counts the runs that it acts on.
      await page.getByLabel(`Select ${first}`).check();
      await bar.getByRole("button", { name: "Select all" }).click();
      await bar.getByText("3 runs selected").waitFor();
      await bar.getByRole("button", { name: "Pause 1" }).waitFor();
      await bar.getByRole("button", { name: "Resume 2" }).click();
      await expect.poll(statuses).toEqual(["running", "running", "running"]);
      await bar.waitFor({ state: "detached" });
      await page.getByLabel(`Select ${second}`).check();
      await page.getByLabel(`Select ${other}`).check();
      await bar.getByRole("button", { name: "Cancel 2" }).click();
      await bar.getByText("Cancel 2 runs? They cannot be resumed.").waitFor();
      expect(statuses()).toEqual(["running", "running", "running"]);
      await bar.getByRole("button", { name: "Yes, cancel" }).click();
      await expect.poll(statuses).toEqual(["running", "cancelled", "cancelled"]);
      await bar.waitFor({ state: "detached" });
      await stage.engine.order(first, "cancel");
      for (const id of ids) await stage.engine.until(id, ({ released }) => released);
    }),
  );

  test(
    "renders only a window of 3,000 rows, finds, selects and scrolls through all of them",
    onStage(async (stage) => {
      const { id } = await stage.begin([...mainSession([{ id: "a" }]), goodWorker], "Real", { start: false });
      const page = await stage.page();
      const [real] = (await page.evaluate("fetch('/api/orchestrator?limit=1').then((each) => each.json())")) as [
        ListedRun,
      ];
      const now = Date.now();
      await page.route("**/api/orchestrator?*", async (route) => {
        const many = Array.from({ length: 3000 }, (_, index) => ({
          ...real,
          id: `orch_${String(index).padStart(5, "0")}`,
          userRequest: `Request ${index}`,
          status: "running" as const,
          updatedAt: new Date(now + 3_600_000).toISOString(),
          createdAt: new Date(now - index * 1000).toISOString(),
          ...(index % 3 === 1 && { heldSince: new Date(now).toISOString() }),
          ...(index % 3 === 2 && { updatedAt: new Date(now - 60_000).toISOString(), quietAfterMs: 1000 }),
        }));
        const query = new URL(route.request().url()).searchParams;
        const from = many.findIndex((run) => run.id === query.get("after")) + 1;
        await route.fulfill({ json: many.slice(from, from + Number(query.get("limit"))) });
      });
      await page.goto(`${stage.url}/runs`);
      await page.getByText("Request 0", { exact: true }).waitFor();
      await page.getByText("3,000 runs").waitFor();
      const rows = page.locator(".run-item");
      const inView = () =>
        page.evaluate(`[...document.querySelectorAll(".run-row-request")]
          .filter((e) => { const { top, bottom } = e.getBoundingClientRect(); return top >= 0 && bottom <= innerHeight; })
          .map((e) => e.textContent)`) as Promise<string[]>;
      expect(await rows.count()).toBeLessThanOrEqual(100);
      await page.evaluate("scrollTo(0, document.documentElement.scrollHeight / 2)");
      await expect.poll(inView).toContain("Request 1500");
      expect(await rows.count()).toBeLessThanOrEqual(100);
      await page.evaluate("scrollTo(0, document.documentElement.scrollHeight)");
      await expect.poll(inView).toContain("Request 2999");
      expect(await rows.last().getAttribute("aria-posinset")).toBe("3000");

      for (const [name, first] of [
        ["Running", "Request 0"],
        ["Waiting", "Request 1"],
        ["Stalled", "Request 2"],
      ] as const) {
        await page.getByRole("button", { name, exact: true }).click();
        await page.getByText("1,000 of 3,000 runs").waitFor();
        await page.evaluate("scrollTo(0, 0)");
        await expect.poll(async () => (await requests(page))[0]).toBe(first);
        expect(page.url()).toContain(`state=${name.toLowerCase()}`);
      }
      await page.getByRole("button", { name: "Select all 1,000" }).click();
      await page.getByText("1,000 runs selected").waitFor();
      await page.getByLabel("Find runs").fill("2999");
      await expect.poll(() => requests(page)).toEqual(["Request 2999"]);
      await page.getByText("1 run selected").waitFor();
      expect(stage.engine.get(id)!.status).toBe("created");
    }),
  );
});

describe("The form of a new run", () => {
  const onStage = withBrowser();

  test(
    "estimates the run from completed ones of its template",
    onStage(async (stage) => {
      const { id } = await stage.begin([...mainSession([{ id: "a" }]), goodWorker], "Write a page", {
        config: { autoSpawn: true },
      });
      await stage.until(id, "completed");
      const page = await stage.page("/runs/new");
      await page.getByText(/^\$\d+\.\d\d and .+, the average of 1 run$/).waitFor();
    }),
  );

  test(
    'sends the variables of a template with their types, and "Same again" has them, the agents, workers and limits',
    onStage(async (stage) => {
      const own = { TONE: "dry", PAGES: 3, STRICT: false };
      const agents = { workerExecution: { agent: "claude" } };
      stage.templates.create({ id: "own", name: "Own", extends: "documentation", variables: own, phases: agents });
      const page = await stage.page("/runs/new?template=own");
      // Real agents would start; the run only has to exist.
      await page.route("**/api/orchestrator", async (route) => {
        const body = { ...(route.request().postDataJSON() as object), autoStart: false };
        await route.continue({ postData: JSON.stringify(body) });
      });
      await page.getByLabel("Request").fill("Document this project");
      await page.getByLabel("Folder", { exact: true }).fill(stage.lab.repo);
      const start = page.getByRole("button", { name: "Start run" });
      // The variables of the template and of the one that it extends, with their values.
      await expect.poll(() => page.getByLabel("PAGES").getAttribute("placeholder")).toBe("3");
      expect(await page.getByLabel("DOCS_FOLDER").getAttribute("placeholder")).toBe("docs");
      await page.getByLabel("TONE").fill("warm & kind");
      await page.getByLabel("PAGES").fill("7");
      await page.getByLabel("STRICT").selectOption("true");
      await page.getByLabel("Most workers").fill("4");
      await page.getByLabel("Budget in US dollars").fill("2.5");
      // The form has one agent per phase, that of the template first, each with the state that the doctor found.
      const roles = page.getByRole("group", { name: "Agent of each phase and role" });
      expect(await roles.getByRole("combobox").count()).toBe(5);
      const workers = roles.getByLabel("Workers");
      await expect.poll(() => workers.locator("option:checked").innerText()).toBe("Default: claude (not ready)");
      await workers.selectOption("local (ready)");
      const command = page.getByRole("textbox", { name: "The same as a command" });
      expect(await command.inputValue()).toContain(
        "--role workerExecution=local --var 'TONE=warm & kind' --var PAGES=7",
      );
      await page.getByText("Other limits").click();
      await page.getByLabel("Most tokens").fill("90000");
      await page.getByLabel("Most turns").fill("40");
      // `tutti run` cannot set these limits, so there is no command to copy.
      await command.waitFor({ state: "detached" });
      expect(await violations(page)).toEqual([]);
      await start.click();
      await page.getByRole("heading", { name: "Document this project" }).waitFor();
      const variables = { TONE: "warm & kind", PAGES: 7, STRICT: true };
      const budget = { usd: 2.5, tokens: 90_000, turns: 40 };
      const [first] = stage.engine.list();
      expect(first).toMatchObject({ customVariables: variables, budget });
      expect(first!.template.config.maxWorkers).toBe(4);
      expect(first!.template.phases.workerExecution.agent).toBe("local");

      await stage.engine.order(first!.id, "cancel");
      await page.getByRole("link", { name: "Same again" }).click();
      await expect.poll(() => page.getByLabel("Most workers").inputValue()).toBe("4");
      expect(await page.getByLabel("STRICT").inputValue()).toBe("true");
      await start.click();
      await expect.poll(() => stage.engine.list().length).toBe(2);
      const again = stage.engine.list().find(({ id }) => id !== first!.id)!;
      expect(again).toMatchObject({ customVariables: variables, budget, userRequest: "Document this project" });
      expect(again.template.config.maxWorkers).toBe(4);
      expect(again.template.phases.workerExecution.agent).toBe("local");
    }),
  );
});
