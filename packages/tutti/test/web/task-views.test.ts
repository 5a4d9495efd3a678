// The views and the panel of tasks in a real browser: one selection, ended waits, and addresses that others can open.
import { describe, expect, test } from "vitest";
import { violations } from "./axe.ts";
import { untilStatus, withBrowser } from "./with-browser.ts";
import { done, goodWorker, mainSession, worker } from "../lab/scenarios.ts";

/**
 * Counts the renders of the nodes of the graph and of the lines of waiting tasks. Preact calls its option `__r` before it
 * renders a component. The page does not export the options, so their prototype catches the first assignment.
 */
const COUNT_RENDERS = `(() => {
  const renders = (window.renders = {});
  const count = ({ props }) => {
    if (typeof props?.id !== "string") return;
    const kind = props.data?.word ? "node" : props.word ? "line" : null;
    if (kind !== null) renders[kind + " " + props.id] = (renders[kind + " " + props.id] ?? 0) + 1;
  };
  Object.defineProperty(Object.prototype, "__r", {
    configurable: true,
    set(hook) {
      const value = typeof hook !== "function" ? hook : (component) => {
        count(component);
        hook(component);
      };
      Object.defineProperty(this, "__r", { value, configurable: true, enumerable: true, writable: true });
    },
  });
})()`;

describe("The tasks of a run", () => {
  const onStage = withBrowser();

  test(
    "show waits that have ended in the timeline, each at the session that waited",
    onStage(async (stage) => {
      const asks = worker("b", { then: "ask:Which colour?" }, ...goodWorker.turns);
      const { id } = await stage.begin([...mainSession([{ id: "a" }, { id: "b" }]), asks, goodWorker], "Write pages");
      await stage.until(id, "confirming");
      const page = await stage.page(`/runs/${id}?view=timeline`, { viewport: { width: 1200, height: 800 } });
      await stage.engine.order(id, "confirm");
      const { inbox } = await stage.engine.until(id, (run) => Object.keys(run.inbox).length === 1);
      const row = (name: string) => page.locator(".timeline li", { has: page.getByText(name, { exact: true }) });
      await row("b").getByTitle("Waits for you").waitFor();
      await stage.engine.answer(Object.keys(inbox)[0]!, { text: "Red" });
      await stage.until(id, "completed");
      await row("b")
        .getByTitle(/^Waited (<1|\d+)s for you: Question$/)
        .waitFor();
      await row("main")
        .getByTitle(/^Waited (<1|\d+)s for you: Plan$/)
        .waitFor();
      expect(await row("a").locator(".is-ended-wait").count()).toBe(0);
      expect(await page.locator(".is-open-wait").count()).toBe(0);
    }),
  );

  test(
    "are marked in the timeline if they are on the longest chain, with a row for each attempt",
    onStage(async (stage) => {
      const fails = {
        match: { role: "worker", task: "c", attempt: 1 },
        turns: [{ block: done({ status: "failed" }) }],
      };
      const tasks = [{ id: "a" }, { id: "b", dependencies: ["a"] }, { id: "c" }];
      const { id } = await stage.begin([...mainSession(tasks), fails, goodWorker], "Write pages", {
        config: { autoSpawn: true, autoRetry: true, maxRetries: 1, retryDelay: 0 },
      });
      await stage.until(id, "completed");
      const page = await stage.page(`/runs/${id}?view=timeline`);
      const row = (name: string) => page.locator(".timeline li", { has: page.getByText(name, { exact: true }) });
      await row("c").getByText("attempt 2").waitFor();
      expect(await row("c").count()).toBe(2);
      expect(await page.locator(".timeline li", { hasText: "longest chain" }).locator("code").allInnerTexts()).toEqual([
        "a",
        "b",
      ]);
    }),
  );

  test(
    "render only where a task has changed",
    onStage(async (stage) => {
      const says = ["a", "b"].map((task) => worker(task, { say: "hm", then: "hang" }));
      const tasks = [{ id: "a" }, { id: "b" }, { id: "c", dependencies: ["a"] }];
      const { id } = await stage.begin([...mainSession(tasks), ...says], "Write pages", {
        config: { autoSpawn: true },
      });
      const { workers } = await stage.engine.until(id, (run) =>
        ["a", "b"].every((task) => run.workers[task]?.session.turn != null),
      );
      const page = await stage.page("/runs");
      await page.addInitScript(COUNT_RENDERS);
      await page.goto(`${stage.url}/runs/${id}`);
      await page.locator('.task-node[data-task="c"]').waitFor();
      await page.locator('[data-worker="c"]').waitFor();
      const mounted = await page.evaluate("Object.keys(renders).toSorted()");
      expect(mounted).toEqual(["line c", "node a", "node b", "node c"]);

      await page.evaluate("for (const name of Object.keys(renders)) delete renders[name]");
      const data = { task_id: "a", status: "in_progress", progress_percent: 40, current_action: "Reading" };
      const report = JSON.stringify({ phase: "progress", data });
      const block = `<<<ORCHESTRATOR_RESPONSE>>>\n${report}\n<<<END_ORCHESTRATOR_RESPONSE>>>`;
      stage.say(id, workers["a"]!.sessionId, block);
      await page.locator('.task-node[data-task="a"]').getByText("40 %").waitFor();
      await page.locator(".worker-card").getByText("Reading").waitFor();
      expect(await page.evaluate("Object.keys(renders)")).toEqual(["node a"]);
    }),
  );

  test(
    "have one selection in all views, and an address that shows the same view, search and panel to others",
    onStage(async (stage) => {
      const says = worker("a", { tools: ["Read", "Grep"], say: "The first words.", then: "hang" });
      const { id } = await stage.begin([...mainSession([{ id: "a" }, { id: "b" }]), says, goodWorker], "Write pages", {
        config: { autoSpawn: true },
      });
      await stage.engine.until(id, ({ workers }) => workers["b"]?.status === "completed");
      const page = await stage.page(`/runs/${id}`);
      await untilStatus(page, "a", "Working");
      await page.locator('.task-node[data-task="a"]').click();
      const transcript = page.getByRole("region", { name: "Transcript" });
      await transcript.getByText("The first words.").waitFor();
      await page.getByRole("button", { name: "Timeline" }).click();
      await page.locator(".timeline li.is-open", { hasText: /^a/ }).waitFor();
      expect(await page.locator(".timeline [aria-current]").allInnerTexts()).toEqual(["a"]);
      expect(await violations(page)).toEqual([]);
      await page.getByRole("button", { name: "Table" }).click();
      expect(await page.locator("tr.is-open [data-row]").getAttribute("data-row")).toBe("a");

      await page.getByLabel("Find tasks").fill("title of a");
      await page.getByLabel("Kind of entries").selectOption("Tools");
      await page.getByLabel("Find in the transcript").fill("grep");
      await transcript.locator(".entry", { hasText: "Grep" }).waitFor();
      const query = new URL(page.url()).searchParams;
      expect(Object.fromEntries(query)).toEqual({
        view: "table",
        find: "title of a",
        session: "a",
        kind: "tools",
        words: "grep",
      });
      const other = await stage.page(new URL(page.url()).pathname + new URL(page.url()).search);
      await other.locator(".entry", { hasText: "Grep" }).waitFor();
      expect(await other.locator(".entry").count()).toBe(1);
      // The table has a script of its own.
      await expect.poll(() => other.locator("[data-row]").count()).toBe(1);
      expect(await other.getByLabel("Kind of entries").inputValue()).toBe("tools");

      // Another task opens in the same view; closing the panel keeps the view; unknown words in an address do nothing.
      await page.getByLabel("Find tasks").fill("");
      await page.locator('[data-row="b"]').click();
      expect(Object.fromEntries(new URL(page.url()).searchParams)).toEqual({ view: "table", session: "b" });
      await page.getByRole("button", { name: "Close the transcript" }).click();
      await page.waitForURL((url) => url.search === "?view=table");
      await page.goto(`${stage.url}/runs/${id}?view=cake&kind=cake&part=cake&session=a`);
      await untilStatus(page, "a", "Working");
      await transcript.getByText("The first words.").waitFor();
    }),
  );

  test(
    "have a panel whose first part is a summary, and that takes messages in every part",
    onStage(async (stage) => {
      const says = worker("a", { say: "hm", then: "hang" });
      const report = done({ summary: "Two pages, both short", warnings: ["One link is dead"] });
      const reports = worker("b", { tools: ["Write"], write: { "docs/b.md": "# b\n" }, block: report });
      const { id } = await stage.begin([...mainSession([{ id: "a" }, { id: "b" }]), says, reports], "Write pages", {
        config: { autoSpawn: true },
      });
      await stage.engine.until(id, ({ workers }) => workers["b"]?.status === "completed");
      const page = await stage.page(`/runs/${id}?session=b`);
      await page.getByRole("link", { name: "Summary" }).click();
      const summary = page.getByRole("region", { name: "Summary" });
      await summary.getByText("Two pages, both short").waitFor();
      const words = await summary.innerText();
      for (const part of ["Do b", "One link is dead", "1 file changed", "docs/b.md"]) expect(words).toContain(part);
      const parts = page.getByRole("navigation", { name: "Parts of the task" }).getByRole("link");
      expect((await parts.allInnerTexts())[0]).toBe("Summary");
      expect(await page.getByLabel("Message to b").count()).toBe(0);
      expect(await violations(page)).toEqual([]);

      await page.goto(`${stage.url}/runs/${id}?session=a`);
      await page.getByRole("region", { name: "Transcript" }).getByText("hm").waitFor();
      await stage.engine.until(id, ({ workers }) => workers["a"]?.session.turn != null);
      const sent: string[] = [];
      for (const [index, name] of (await parts.allInnerTexts()).entries()) {
        await parts.nth(index).click();
        await page.getByRole("region", { name: name.replace(/\s*\d+$/, ""), exact: true }).waitFor();
        await page.getByLabel("Message to a").fill(`From ${name}`);
        await page.getByRole("button", { name: "Send" }).click();
        sent.push(`From ${name}`);
        await expect.poll(() => stage.engine.get(id)!.messages.map(({ text }) => text)).toEqual(sent);
      }
      expect(sent.length).toBe(7);
      // A worker without any commit has no changes.
    }, /409 \(Conflict\)/),
  );

  test(
    "have a log that is searched by words, and shows raw events of the whole run on demand",
    onStage(async (stage) => {
      const hangs = worker("a", { say: "hm", then: "hang" });
      const { id } = await stage.begin([...mainSession([{ id: "a" }, { id: "b" }]), hangs, goodWorker], "Write pages", {
        config: { autoSpawn: true },
      });
      const run = await stage.engine.until(id, ({ workers }) => workers["b"]?.status === "completed");
      for (let step = 1; step <= 250; step++) {
        const data = {
          task_id: "a",
          status: "in_progress",
          progress_percent: step % 100,
          current_action: `Step ${step}`,
        };
        const block = JSON.stringify({ phase: "progress", data });
        const words = `<<<ORCHESTRATOR_RESPONSE>>>\n${block}\n<<<END_ORCHESTRATOR_RESPONSE>>>`;
        stage.say(id, run.workers["a"]!.sessionId, words);
      }
      await stage.engine.until(id, ({ workers }) => workers["a"]?.currentAction === "Step 250");
      const page = await stage.page(`/runs/${id}?tab=log`);
      const asked: string[] = [];
      page.on("request", (request) => {
        if (/\/events\?after=0\b/.test(request.url())) asked.push(request.url());
      });
      const lines = page.locator(".activity li");
      const all = stage.engine.events({ run: id });
      // The end of the log is all progress, so the beginning of the run is only in the whole log.
      await page.getByLabel("Lines of the log").selectOption("The whole log");
      await page.getByLabel("Find in the log").fill("B COMPLETED");
      await expect.poll(() => lines.count()).toBe(1);
      expect(await lines.innerText()).toMatch(/b[\s\S]*completed/i);
      expect(asked.length).toBe(1);
      await page.getByLabel("Lines of the log").selectOption("Raw events");
      await page.getByLabel("Find in the log").fill("worker:completed");
      await expect.poll(() => lines.count()).toBe(all.filter(({ type }) => type === "worker:completed").length);
      await lines.first().locator("summary").click();
      const shown = JSON.parse(await lines.first().locator(".long-text").innerText()) as { seq: number; type: string };
      expect(shown).toMatchObject({ type: "worker:completed", data: { taskId: "b" } });
      expect(Object.fromEntries(new URL(page.url()).searchParams)).toEqual({
        tab: "log",
        log: "raw",
        find: "worker:completed",
      });
      expect(await violations(page)).toEqual([]);
      await page.reload();
      await expect.poll(() => lines.count()).toBe(1);
      await page.getByLabel("Find in the log").fill("no such words");
      await page.getByText("Nothing matches the filter.").waitFor();
    }),
  );

  test(
    "have changes that are commented on while their worker is at work, and the worker receives the comment",
    onStage(async (stage) => {
      // The first turn ends without an answer, so its work is committed and the worker gets another turn.
      const writes = worker("a", { tools: ["Write"], write: { "docs/a.md": "# One\n" }, say: "hm" }, { then: "hang" });
      const { id } = await stage.begin([...mainSession([{ id: "a" }]), writes], "Write a page", {
        config: { autoSpawn: true },
      });
      await stage.engine.until(id, ({ workers }) => workers["a"]?.session.turn?.number === 2);
      const page = await stage.page(`/runs/${id}?tab=changes&task=a`);
      await page.getByRole("button", { name: "Comment on line 1" }).first().click();
      await page.getByLabel("Message to a about docs/a.md:1").fill("Shorter");
      await page.getByRole("button", { name: "Send" }).click();
      await expect
        .poll(() => stage.engine.get(id)!.messages.map(({ taskId, text }) => [taskId, text]))
        .toEqual([["a", "About docs/a.md:1:\n> # One\nShorter"]]);
    }),
  );
});
