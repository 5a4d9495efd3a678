// The screens of the dashboard in a real browser: inbox, plan, new run, changes, transcript, large plans, and the frame.
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Page } from "playwright-core";
import { describe, expect, test } from "vitest";
import { violations } from "./axe.ts";
import type { Stage } from "./stage.ts";
import { statusOf, untilStatus, untilStill, withBrowser } from "./with-browser.ts";
import { done, goodWorker, mainSession, worker } from "../lab/scenarios.ts";
import { openTokens } from "../../src/main/settings.ts";

const onStage = withBrowser();
const write = (name: string) => ({ [`docs/${name}.md`]: `# ${name}\n` });

async function confirmed(stage: Stage, sessions: object[], message: string, config = {}): Promise<string> {
  const { id } = await stage.begin(sessions, message, { config });
  await stage.until(id, "confirming");
  await stage.engine.order(id, "confirm");
  return id;
}

const asking = (task: string, question: string) =>
  worker(task, { then: `ask:${question}` }, { tools: ["Write"], write: write(task), block: done({}) });

/** The element at the middle of the locator is the locator itself or inside of it. */
const isUncovered = (page: Page, selector: string): Promise<boolean> =>
  page.evaluate(`(() => {
    const element = document.querySelector(${JSON.stringify(selector)});
    const { x, y, width, height } = element.getBoundingClientRect();
    return element.contains(document.elementFromPoint(x + width / 2, y + height / 2));
  })()`);

describe("The inbox", () => {
  test(
    "shows what waits in all runs, answers with keys, and goes on with the next item",
    onStage(async (stage) => {
      const id = await confirmed(
        stage,
        [...mainSession([{ id: "a" }, { id: "b" }]), asking("a", "Which colour?"), asking("b", "Which size?")],
        "Paint the page",
        { answerTimeout: 1_800_000 },
      );
      await stage.engine.until(id, ({ inbox }) => Object.keys(inbox).length === 2);
      const plan = await stage.begin([...mainSession([{ id: "only" }]), goodWorker], "Write one page");
      await stage.until(plan.id, "confirming");

      const page = await stage.page();
      const items = page.locator(".inbox-item");
      await items.nth(2).waitFor();
      // An effect sets the title, a frame after the items.
      await expect.poll(() => page.title()).toBe("(3) Inbox · Tutti");
      // A plan stops its whole run, so it comes first, with its terms.
      expect(await items.allInnerTexts()).toEqual([
        expect.stringMatching(/A plan waits for you[\s\S]*Write one page/),
        expect.stringMatching(/[ab] asks[\s\S]*Paint the page/),
        expect.stringMatching(/[ab] asks/),
      ]);
      const card = page.locator(".inbox-open .question");
      expect(await card.innerText()).toMatch(
        /Medium risk[\s\S]*Estimate[\s\S]*min, \$[\s\S]*Budget[\s\S]*Longest chain[\s\S]*only/,
      );
      await page.keyboard.press("a");
      await stage.engine.until(plan.id, ({ status }) => status !== "confirming");
      await page.getByRole("heading", { name: /asks/ }).waitFor();
      // A question that answers itself says when, and how.
      expect(await card.innerText()).toMatch(/answers itself in \d+m \d\ds with\s+The user did not answer in time/);

      // A draft survives a reload, and is reported if the item is answered elsewhere.
      await page.keyboard.press("r");
      await page.keyboard.type("Somewhat green");
      await page.reload();
      await page.getByLabel("Your answer").waitFor();
      const shown = (await page.locator(".inbox-item.is-open").getAttribute("data-item"))!;
      if ((await page.getByLabel("Your answer").inputValue()) === "") await page.keyboard.press("j");
      expect(await page.getByLabel("Your answer").inputValue()).toBe("Somewhat green");
      await stage.engine.answer(shown, { text: "Red" });
      await page.getByText("This was answered elsewhere, so your words were not sent").waitFor();
      await page.getByText("Somewhat green").waitFor();
      expect(await violations(page)).toEqual([]);
      await page.getByRole("button", { name: "Discard my words" }).click();

      await page.getByLabel("Your answer").fill("Large");
      await page.getByRole("button", { name: "Answer", exact: true }).click();
      await page.getByRole("heading", { name: "Nothing waits for you" }).waitFor();
      await stage.until(id, "completed");

      // The palette finds runs, and `?` shows the shortcuts. Keys from before it is loaded are text for it.
      const loaded = Promise.withResolvers<void>();
      await page.route("**/assets/palette-*.js", async (route) => {
        await loaded.promise;
        await route.continue();
      });
      await page.keyboard.press("Control+k");
      await page.keyboard.type("pai");
      loaded.resolve();
      await expect.poll(() => page.getByRole("combobox").inputValue()).toBe("pai");
      await page.keyboard.type("nt");
      await page.keyboard.press("Enter");
      await page.getByRole("heading", { name: "Paint the page" }).waitFor();
      await page.keyboard.press("?");
      await page.getByRole("dialog", { name: "Shortcuts" }).waitFor();
      expect(await violations(page)).toEqual([]);
      await page.keyboard.press("Escape");
    }),
  );

  test(
    "names every landmark, retries all failed tasks at once, and skips events and items that it does not know",
    onStage(async (stage) => {
      const fails = (task: string) => ({
        match: { role: "worker", task, attempt: 1 },
        turns: [{ block: { phase: "completion", data: { task_id: "{TASK_ID}", status: "failed", error: "no luck" } } }],
      });
      const sessions = [
        ...mainSession([{ id: "a" }, { id: "b" }, { id: "c" }, { id: "d" }]),
        fails("a"),
        fails("b"),
        asking("c", "Which?"),
        asking("d", "Which one?"),
        goodWorker,
      ];
      const id = await confirmed(stage, sessions, "Write four pages");
      await stage.engine.until(id, ({ inbox }) => Object.keys(inbox).length === 4);
      const page = await stage.page("/", { viewport: { width: 360, height: 480 } });
      // On a phone the item is below the list, so that choosing one moves it into view.
      await page.locator(".inbox-item").last().click();
      const heading = page.locator(".inbox-open h2");
      await heading.getByText("did not complete").waitFor();
      expect((await heading.boundingBox())!.y).toBeLessThan(240);
      await page.setViewportSize({ width: 1280, height: 800 });
      // A newer server: an event of an unknown type, and an item of an unknown kind, between two known ones.
      await page.routeWebSocket(/events/, (socket) => {
        const real = socket.connectToServer();
        real.onMessage((message) => {
          const frame = JSON.parse(String(message)) as { seq: number; runSeq: number; run: string };
          const strange = {
            seq: frame.seq - 0.5,
            runSeq: frame.runSeq - 0.5,
            run: id,
            timestamp: new Date().toISOString(),
          };
          const item = { id: "strange", kind: "weather", run: id, taskId: null, question: "Will it rain?", hash: "h" };
          socket.send(JSON.stringify({ ...strange, type: "weather:changed", data: { id } }));
          const added = { ...strange, seq: frame.seq - 0.25, runSeq: frame.runSeq - 0.25 };
          if (frame.run === id) socket.send(JSON.stringify({ ...added, type: "inbox:added", data: { id, item } }));
          socket.send(message);
        });
      });
      await page.goto(`${stage.url}/runs/${id}`);
      await page.getByRole("region", { name: "Failed tasks" }).waitFor();
      expect(await violations(page)).toEqual([]);
      await page.getByRole("button", { name: "Timeline" }).click();
      const waits = page.locator(".timeline li", { has: page.locator('[title="Waits for you"]') });
      await expect.poll(async () => (await waits.locator("code").allInnerTexts()).toSorted()).toEqual(["c", "d"]);
      await page.getByRole("button", { name: "Graph" }).click();
      await page.getByRole("button", { name: "Retry all failed" }).click();
      await untilStatus(page, "a", "Completed");
      await untilStatus(page, "b", "Completed");
      // The panel of a task lists every attempt with its reason; a click opens the transcript of this attempt.
      await page.locator('.task-node[data-task="a"]').click();
      await page.getByRole("link", { name: "Attempts 2" }).click();
      const attempts = page.getByRole("list", { name: "Attempts" }).getByRole("listitem");
      await attempts.nth(1).waitFor();
      expect(await attempts.allInnerTexts()).toEqual([
        expect.stringMatching(/Completed[\s\S]*Attempt 2/),
        expect.stringMatching(/Failed[\s\S]*Attempt 1[\s\S]*No luck/),
      ]);
      // The worker of a completed task receives nothing, so the main session gets a comment on its work.
      await page.getByRole("link", { name: "Changes", exact: true }).last().click();
      await page.getByRole("button", { name: "Comment on line 1" }).first().click();
      await page.getByLabel("Message to the main session about docs/a.md:1").fill("Shorter");
      await page.getByRole("button", { name: "Send" }).click();
      await expect
        .poll(() => stage.engine.get(id)!.messages.map(({ taskId, text }) => [taskId, text]))
        .toEqual([
          [null, expect.stringMatching(/^The work of a needs a change\.\nAbout docs\/a\.md:1:[\s\S]*Shorter$/)],
        ]);
      await page.getByRole("link", { name: "Attempts 2" }).click();
      await attempts.nth(1).getByRole("link", { name: "Attempt 1" }).click();
      await page.getByText('"error": "no luck"').waitFor({ state: "attached" });
      expect(await page.getByLabel("Attempt").inputValue()).toBe("1");
      await page.getByRole("button", { name: "Close the transcript" }).click();
      await page.getByText("Will it rain?").waitFor();
      for (const task of ["c", "d"]) {
        const question = page.getByRole("region", { name: `Question of ${task}` });
        await question.getByLabel("Your answer").fill("This one");
        await question.getByRole("button", { name: "Answer" }).click();
      }
      await page.getByRole("heading", { name: "Success" }).waitFor();
    }),
  );
});

describe("A plan", () => {
  test(
    "is edited, keeps its edits over a reload, and reports them when it is confirmed elsewhere",
    onStage(async (stage) => {
      const tasks = [{ id: "a" }, { id: "b", dependencies: ["a"] }, { id: "c" }];
      const { id } = await stage.begin([...mainSession(tasks), goodWorker], "Write some pages");
      await stage.until(id, "confirming");
      const page = await stage.page(`/runs/${id}`);
      const chain = page.locator(".evidence > div", { hasText: "Longest chain" });
      await expect.poll(() => chain.innerText()).toMatch(/a → b \(/);
      await page.getByRole("button", { name: "Edit a" }).click();
      const fields = page.getByRole("group", { name: "Edit a" });
      await fields.getByLabel("Title").fill("A better title");
      await page.getByRole("button", { name: "Edit b" }).click();
      await page.getByRole("group", { name: "Dependencies of b" }).getByLabel("a").uncheck();
      await expect.poll(() => chain.innerText()).toMatch(/Longest chain\s+[abc] \(/);
      await page.getByRole("button", { name: "Edit c" }).click();
      await page.getByRole("button", { name: "Remove c" }).click();
      await page.getByRole("button", { name: "Add a task" }).click();
      const added = page.getByRole("group", { name: "Edit added-1" });
      await added.getByLabel("Title").fill("One more");
      await added.getByLabel("Description").fill("Write docs/more.md");
      await page.getByLabel("Budget in US dollars").fill("7");
      await page.reload();
      await page.getByRole("heading", { name: "Confirm this plan of 3 tasks?" }).waitFor();
      await page.getByText("You approve 3 tasks with a budget of $7.00.").waitFor();
      expect(await violations(page)).toEqual([]);

      // A second tab confirms the plan as it was: the first one says that its edits were not applied.
      const other = await stage.page(`/runs/${id}`);
      await page.getByRole("button", { name: "Undo my edits" }).waitFor();
      await page.setViewportSize({ width: 360, height: 740 });
      const heading = await page.locator("#plan-title").boundingBox();
      expect(heading!.width).toBeGreaterThan(200);
      const [title, buttons] = [
        await page.locator(".run-title h1").boundingBox(),
        await page.locator(".run-title .run-actions").boundingBox(),
      ];
      expect(buttons!.y).toBeGreaterThanOrEqual(title!.y + title!.height);
      expect((await page.getByLabel("Request changes").boundingBox())!.width).toBeGreaterThan(250);
      const [path, mark] = [
        await page.locator(".top-bar-path").boundingBox(),
        await page.locator(".connection").boundingBox(),
      ];
      expect(path!.x + path!.width).toBeLessThanOrEqual(mark!.x);
      await page.setViewportSize({ width: 1280, height: 800 });
      await page.getByRole("button", { name: "Confirm plan" }).click();
      await stage.until(id, "completed");
      const run = stage.engine.get(id)!;
      expect(run.tasks.map((task) => [task.id, task.title, task.dependencies])).toEqual([
        ["a", "A better title", []],
        ["b", "Title of b", []],
        ["added-1", "One more", []],
      ]);
      expect(run.budget.usd).toBe(7);
      await other.getByRole("heading", { name: "Success" }).waitFor();

      const again = await stage.begin([...mainSession(tasks), goodWorker], "Write them again");
      await stage.until(again.id, "confirming");
      await page.goto(`${stage.url}/runs/${again.id}`);
      await page.getByLabel("Skip c").check();
      await stage.engine.order(again.id, "confirm");
      await page.getByText("Your edits of the plan were not applied.").waitFor();

      // A new plan is compared with the one that the user sent back, and a wide window draws it beside the table.
      const sessions = mainSession(tasks);
      const planned = [{ ...tasks[0]!, scope: ["src"] }, tasks[1]!, { id: "d" }];
      (sessions[1]!.turns as object[]).push(mainSession(planned)[1]!.turns[0]!);
      const third = await stage.begin([...sessions, goodWorker], "Write them differently", {
        config: { budget: { usd: 3 } },
      });
      await stage.until(third.id, "confirming");
      await page.goto(`${stage.url}/runs/${third.id}`);
      await page.getByText("You approve 3 tasks with a budget of $3.00.").waitFor();
      const graph = page.getByRole("region", { name: "Graph of the plan" });
      await graph.locator('[data-task="c"]').waitFor();
      const [table, drawing] = [await page.locator(".plan-tasks").boundingBox(), await graph.boundingBox()];
      expect(drawing!.x).toBeGreaterThan(table!.x + table!.width);
      expect(Math.abs(drawing!.y - table!.y)).toBeLessThan(5);
      // The graph has the edits.
      await page.getByLabel("Skip c").check();
      await graph.locator('[data-task="c"]').waitFor({ state: "detached" });
      await page.getByText("You approve 2 tasks with a budget of $3.00.").waitFor();
      await page.getByLabel("Request changes").fill("Rather d than c");
      await page.getByRole("button", { name: "Request a new plan" }).click();
      await page.getByText("Since the plan before: new: d; gone: c; changed: a.").waitFor();
      // Another user sees the same difference, which comes from the log.
      await other.goto(`${stage.url}/runs/${third.id}`);
      await other.getByText("Since the plan before: new: d; gone: c; changed: a.").waitFor();
      await graph.locator('[data-task="d"]').waitFor();
      await other.getByText("Show the differences").click();
      const differences = other.getByRole("list", { name: "Differences from the plan before" });
      expect(await differences.getByRole("listitem").allInnerTexts()).toEqual([
        expect.stringMatching(/^a\s+Files\s+none\s+src$/),
      ]);
      expect(await violations(page)).toEqual([]);
      expect(await violations(other)).toEqual([]);
    }),
  );

  test(
    "of many tasks keeps its stages while it is edited, and its labels are editable",
    onStage(async (stage) => {
      const tasks = Array.from({ length: 60 }, (_, i) => ({
        id: `t${i}`,
        dependencies: i < 20 ? [] : [`t${i - 20}`],
        ...(i === 0 && { labels: { gpu: "yes" } }),
      }));
      const { id } = await stage.begin([...mainSession(tasks), goodWorker], "Write sixty pages");
      await stage.until(id, "confirming");
      const page = await stage.page(`/runs/${id}`, { viewport: { width: 1440, height: 900 } });
      const stages = page.getByRole("group", { name: "Open stages" }).getByRole("button");
      await expect.poll(() => stages.count()).toBe(3);
      await page.getByLabel("Skip t59").check();
      await page.getByText("You approve 59 tasks with").waitFor();
      await expect.poll(() => stages.count()).toBe(3);
      await page.getByLabel("Find tasks of the plan").fill("t0");
      await page.getByRole("button", { name: "Edit t0" }).click();
      const labels = page.getByLabel("Labels of its host, one per line");
      expect(await labels.inputValue()).toBe("gpu=yes");
      await labels.fill("zone = eu\nfast");
      await page.getByText("zone=eu, fast=").waitFor();
      // The new dependency puts `t0` and the two tasks that follow it after the third stage.
      await page.getByRole("group", { name: "Dependencies of t0" }).getByLabel("t58", { exact: true }).check();
      await expect.poll(() => page.getByText("depend on each other").count()).toBe(0);
      await expect.poll(() => stages.count()).toBe(6);
      await page.getByRole("button", { name: "Confirm plan" }).click();
      const run = await stage.engine.until(id, ({ status }) => status !== "confirming");
      expect(run.tasks[0]).toMatchObject({ labels: { zone: "eu", fast: "" }, dependencies: ["t58"] });
      await stage.engine.order(id, "cancel");
      await stage.engine.until(id, ({ released }) => released);
    }),
  );

  test(
    "of many tasks is a table first, and its graph starts at the tasks at work",
    onStage(async (stage) => {
      const first = Array.from({ length: 60 }, (_, i) => ({ id: `t${i}`, dependencies: i < 20 ? [] : [`t${i - 20}`] }));
      const hangs = { match: { role: "worker" }, turns: [{ say: "hm", then: "hang" }] };
      const id = await confirmed(stage, [...mainSession(first), hangs], "Write sixty pages");
      await stage.engine.until(id, ({ workers }) => workers["t1"]?.session.turn != null);
      const page = await stage.page(`/runs/${id}`, { viewport: { width: 1440, height: 900 } });
      await page.getByRole("region", { name: "Table of tasks" }).waitFor();
      // The table has all tasks, and the list beside it only the first ones.
      await page.getByText("and 43 more in the table").waitFor();
      const columns = ["State", "Task", "After", "Progress", "Tools", "Time", "Cost"];
      expect(await page.locator(".task-table th").allInnerTexts()).toEqual(columns);
      await page.getByLabel("Find tasks").fill("t41");
      await page.locator('[data-row="t41"]').waitFor();
      expect(await page.locator("[data-row]").count()).toBe(1);
      await page.getByRole("button", { name: "Graph" }).click();
      const node = page.locator('.task-node[data-task="t1"]');
      // A new graph has its full size until it fits its frame.
      await untilStill(page, '.task-node[data-task="t1"]');
      // Only the stage at work is open, at a readable size. A click opens another one, and a second click closes it.
      await expect.poll(async () => ((await node.boundingBox())?.width ?? 0) > 100).toBe(true);
      // The arrow keys move the view.
      await node.focus();
      const { x } = (await node.boundingBox())!;
      await page.keyboard.press("ArrowLeft");
      await expect.poll(async () => (await node.boundingBox())!.x > x).toBe(true);
      await page.keyboard.press("ArrowRight");
      await expect.poll(async () => Math.round((await node.boundingBox())!.x)).toBe(Math.round(x));
      expect(await page.locator("[data-stage]").allInnerTexts()).toEqual([
        expect.stringMatching(/Stage 2\s+20 tasks[\s\S]*20 waiting/),
        expect.stringContaining("Stage 3"),
      ]);
      await page.getByRole("button", { name: "Whole plan" }).click();
      await page.locator('[data-stage="3"]').click();
      await page.locator('[data-stage="3"]').waitFor({ state: "detached" });
      await page.getByRole("group", { name: "Open stages" }).getByRole("button", { name: "Stage 3" }).click();
      await page.locator('[data-stage="3"]').waitFor();
      await page.getByRole("button", { name: "Tasks at work" }).click();
      await untilStill(page, '.task-node[data-task="t1"]');
      await expect.poll(async () => ((await node.boundingBox())?.width ?? 0) > 100).toBe(true);
      expect(await page.locator(".react-flow__minimap").count()).toBe(1);
      expect(await page.locator('a[href*="reactflow"]').count()).toBe(0);
      const width = (await node.boundingBox())!.width;
      await page.getByRole("button", { name: "Zoom in" }).click();
      await expect.poll(async () => (await node.boundingBox())!.width > width).toBe(true);
      expect(await violations(page)).toEqual([]);
      // Following keeps the tasks at work in view, also the one that starts next.
      await page.getByRole("button", { name: "Whole plan" }).click();
      await page.getByRole("button", { name: "Follow" }).click();
      await expect.poll(async () => ((await node.boundingBox())?.width ?? 0) > 100).toBe(true);
      await page.getByRole("button", { name: "Whole plan" }).click();
      await stage.engine.cancelWorker(id, stage.engine.get(id)!.workers["t1"]!.sessionId);
      const next = page.locator(".task-node.tone-running").last();
      await expect.poll(async () => ((await next.boundingBox())?.width ?? 0) > 100).toBe(true);
      await page.getByRole("button", { name: "Timeline" }).click();
      await page.locator(".timeline-bar").first().waitFor();
      await page.getByText("longest chain").waitFor();
      // A wider node than its header would cut the name of the task.
      await page.getByRole("button", { name: "Graph" }).click();
      await node.waitFor();
      expect(
        await page.evaluate(
          "[...document.querySelectorAll('.task-node-top')].every((e) => e.scrollWidth <= e.clientWidth + 1)",
        ),
      ).toBe(true);
    }),
  );
});

describe("Places", () => {
  test(
    "show the machine, tokens, templates and schedules, and refuse what the role of a token may not do",
    onStage(async (stage) => {
      const page = await stage.page("/machine");
      await page.getByRole("heading", { name: "Tutti can work here" }).waitFor();
      await page.getByLabel("Name of a new token").fill("wall");
      await page.getByRole("button", { name: "Create token" }).click();
      const secret = await page.getByRole("textbox", { name: "New token", exact: true }).inputValue();
      await page.getByRole("button", { name: "Revoke wall" }).waitFor();
      expect(await violations(page)).toEqual([]);

      // A token with the role `view` sees the pages, but every button that changes something says why it is disabled.
      const viewer = await stage.page("/templates?id=refactoring", { token: secret });
      await viewer.getByText("View only").waitFor();
      await viewer.getByRole("heading", { name: "Refactoring" }).waitFor();
      expect(await viewer.getByRole("button", { name: "Duplicate" }).getAttribute("title")).toContain("needs admin");
      await viewer.context().close();
      await page.getByRole("button", { name: "Revoke wall" }).click();
      await page.getByRole("button", { name: "Yes, revoke" }).click();
      await page.getByText("Only the token of the server itself exists.").waitFor();

      await page.goto(`${stage.url}/templates?id=refactoring`);
      await page.getByText(/values with their origin/).click();
      await page.getByRole("row", { name: /^\/config\/maxWorkers \d+ / }).waitFor();
      await page.getByRole("button", { name: "Rehearse" }).click();
      await page.getByText("Prompt of analysis").first().waitFor();
      expect(await violations(page)).toEqual([]);
      await page.getByLabel("Name of the copy").fill("My own");
      await page.getByRole("button", { name: "Duplicate" }).click();
      await page.getByRole("heading", { name: "My own" }).waitFor();
      await page.getByRole("button", { name: "Delete" }).click();
      await page.getByRole("button", { name: "Yes, delete" }).click();
      await page.getByRole("link", { name: /my-own/ }).waitFor({ state: "detached" });
      // In a narrow window a template is below the list, and comes into view when it is chosen.
      await page.setViewportSize({ width: 360, height: 740 });
      await page.getByRole("link", { name: /^Testing/ }).click();
      await page.getByRole("heading", { name: "Testing" }).waitFor();
      await expect.poll(() => isUncovered(page, "#template-title")).toBe(true);
      await page.setViewportSize({ width: 1280, height: 800 });
      await page.getByRole("link", { name: /^Documentation documentation/ }).click();
      await page.getByRole("link", { name: "New run with it" }).click();
      await expect.poll(() => page.getByLabel("Template").inputValue()).toBe("documentation");

      const schedule = { cron: "0 3 * * *", template: "documentation", cwd: stage.lab.repo, message: "Every night" };
      writeFileSync(join(stage.lab.data, "tutti.config.json"), JSON.stringify({ schedules: { nightly: schedule } }));
      await page.goto(`${stage.url}/schedules`);
      const nightly = page.getByRole("region", { name: "Schedule nightly" });
      await nightly.getByText("0 3 * * *").waitFor();
      expect(await violations(page)).toEqual([]);
    }),
  );

  test(
    "show the worker hosts with their load and tasks, which an admin drains and removes",
    onStage(async (stage) => {
      const page = await stage.page("/hosts");
      await page.getByRole("heading", { name: "No worker hosts" }).waitFor();
      const host = { capacity: 4, version: "0.1.0", agents: ["local"], sessions: 3, seenAt: new Date().toISOString() };
      stage.hosts.push(
        { ...host, id: "h1", name: "gpu-1", labels: { gpu: "a100" }, state: "ready", tasks: ["api", "docs"] },
        { ...host, id: "h2", name: "old", labels: {}, state: "lost", tasks: [], sessions: 0, seenAt: null },
      );
      // A host connects without an event, and the page shows it without a reload.
      const gpu = page.getByRole("region", { name: "Host gpu-1" });
      await gpu.waitFor();
      expect(await gpu.innerText()).toMatch(
        /Ready[\s\S]*3 of 4 sessions[\s\S]*gpu=a100[\s\S]*local[\s\S]*0\.1\.0[\s\S]*api, docs[\s\S]*just now/,
      );
      const old = page.getByRole("region", { name: "Host old" });
      expect(await old.innerText()).toMatch(/Lost[\s\S]*0 of 4 sessions[\s\S]*has not connected yet/);
      expect(await violations(page)).toEqual([]);
      await gpu.getByRole("button", { name: "Drain gpu-1" }).click();
      await gpu.getByText("Draining").waitFor();
      await gpu.getByRole("button", { name: "Undrain gpu-1" }).click();
      await gpu.getByText("Ready").waitFor();
      const { token } = openTokens(stage.lab.data).create({ name: "helper", role: "operate" });
      const operator = await stage.page("/hosts", { token });
      const refused = operator.getByRole("button", { name: "Remove old" });
      await expect.poll(() => refused.getAttribute("title")).toContain("This needs admin.");
      expect(await refused.isDisabled()).toBe(true);
      await old.getByRole("button", { name: "Remove old" }).click();
      await old.getByRole("button", { name: "Yes, remove" }).click();
      await old.waitFor({ state: "detached" });
      expect(stage.hosts.map(({ id, state }) => [id, state])).toEqual([["h1", "ready"]]);
    }),
  );
});

describe("A run", () => {
  test(
    "is created from a form, shows its changes, and is merged and dropped",
    onStage(async (stage) => {
      const page = await stage.page("/runs/new");
      await page.getByLabel("Request").fill("Document this project");
      await page.getByLabel("Folder", { exact: true }).fill(stage.lab.repo);
      await page.locator("option", { hasText: "local (ready)" }).first().waitFor({ state: "attached" });
      await page.getByLabel("Budget in US dollars").fill("2");
      await page.getByLabel("Most workers").fill("2");
      await page.getByLabel("Agent", { exact: true }).selectOption("local");
      // The agent of each phase has the state that the doctor found, and the prompts have the values of the form.
      expect(await page.getByLabel("Workers", { exact: true }).locator("option:checked").innerText()).toBe(
        "Default: local (ready)",
      );
      await page.getByText("Preview of the prompts").click();
      await page.locator(".prompts").getByText("Document this project").first().waitFor();
      expect(await violations(page)).toEqual([]);
      // The built-in agent would start processes, so this run only has to exist.
      await page.route("**/api/orchestrator", async (route) => {
        const body = { ...(route.request().postDataJSON() as object), autoStart: false };
        await route.continue({ postData: JSON.stringify(body) });
      });
      await page.getByRole("button", { name: "Start run" }).click();
      await page.getByRole("heading", { name: "Document this project" }).waitFor();
      // Without routes the page uses its cache.
      await page.unroute("**/api/orchestrator");
      expect(stage.engine.list()[0]).toMatchObject({ agent: "local", cwd: stage.lab.repo, budget: { usd: 2 } });
      expect(stage.engine.list()[0]!.template.config.maxWorkers).toBe(2);

      const id = await confirmed(stage, [...mainSession([{ id: "a" }]), goodWorker], "Write a page");
      await stage.until(id, "completed");
      await page.goto(`${stage.url}/runs/${id}?tab=changes`);
      await page.locator(".diff-line.is-added").first().waitFor();
      // A new line has no number in the version before.
      expect(await page.locator(".diff-line.is-added").first().locator(".diff-number").allTextContents()).toEqual([
        "",
        "Comment on line 1",
      ]);
      expect(await violations(page)).toEqual([]);
      await page.getByLabel("Of which task").selectOption({ index: 1 });
      await page.locator(".file-diff").waitFor();
      await page.getByLabel("Of which task").selectOption({ index: 0 });
      // A comment on a line of an ended run becomes the request of a follow-up run.
      await page.getByRole("button", { name: "Comment on line 1" }).first().click();
      await page.getByLabel("Rework about docs/a.md:1").fill("Say more");
      await page.getByRole("button", { name: "Add to the rework request" }).click();
      await page.getByRole("link", { name: "Request rework" }).click();
      await page.getByRole("heading", { name: "Follow-up run" }).waitFor();
      await expect
        .poll(() => page.getByLabel("Request").inputValue())
        .toBe("Change these places of the result.\n\nAbout docs/a.md:1:\n> # Title of a\nSay more");
      await page.goBack();
      await page.getByRole("button", { name: "Remove the comment on docs/a.md:1" }).click();
      await page.getByRole("region", { name: "Rework request" }).waitFor({ state: "detached" });
      const branch = `tutti/${id}`;
      const foreign = stage.lab.git("commit-tree", `${branch}^{tree}`, "-p", branch, "-m", "by something else");
      stage.lab.git("update-ref", `refs/heads/${branch}`, foreign);
      await page.getByRole("button", { name: "Merge", exact: true }).click();
      await page.getByRole("button", { name: "Yes, merge" }).click();
      await page.getByText(/^Merged into /).waitFor();
      await page.getByText(`that the run did not make: ${foreign.slice(0, 12)}`).waitFor();
      expect(await page.getByRole("textbox", { name: "Command that undoes it" }).inputValue()).toMatch(
        /^git .*reset --keep /,
      );
      await page.getByRole("link", { name: "Plan", exact: true }).click();
      await page.getByRole("heading", { name: "Plan 1 task in 1 stage" }).waitFor();
      await page.getByText("Do a", { exact: true }).waitFor();
      await page.getByRole("link", { name: "Checks", exact: true }).click();
      await page.getByText("wrote a", { exact: true }).waitFor();
      expect(await page.locator(".claim").innerText()).toMatch(/The worker says[\s\S]*Tutti saw[\s\S]*docs\/a\.md/);
      expect(await violations(page)).toEqual([]);
      await page.getByRole("link", { name: "Cost", exact: true }).click();
      await page.getByRole("row", { name: /^a .*\$0\.01/ }).waitFor();
      expect(await violations(page)).toEqual([]);
      await page.getByRole("link", { name: "Log", exact: true }).click();
      await page.getByLabel("Last event of a fork").selectOption({ index: 2 });
      const last = Number(await page.getByLabel("Last event of a fork").inputValue());
      await page.getByRole("button", { name: `Fork after event ${last}` }).click();
      await page.getByRole("button", { name: "Yes, fork" }).click();
      await page.waitForURL((url) => !url.pathname.endsWith(id));
      const fork = stage.engine.get(new URL(page.url()).pathname.replace("/runs/", ""))!;
      // A fork ends where all events of one decision are copied.
      expect(fork.forkedFrom!.run).toBe(id);
      expect(fork.forkedFrom!.at).toBeGreaterThanOrEqual(last);
      expect(fork.forkedFrom!.at).toBeLessThan(stage.engine.get(id)!.runSeq);
      await page.goBack();
      await page.getByRole("link", { name: "Changes", exact: true }).click();
      await page.reload();
      await page.getByRole("button", { name: "Drop", exact: true }).click();
      await page.getByRole("button", { name: "Yes, drop" }).click();
      await page.getByText(/^Removed tutti\//).waitFor();
      expect(stage.lab.git("branch", "--list", `tutti/${id}`)).toBe("");

      await page.goto(`${stage.url}/runs?state=success&q=write+${id}`);
      await page.locator(".run-row").waitFor();
      expect(await page.locator(".run-row").count()).toBe(1);
      await page.getByLabel("Find runs").fill("nothing like it");
      await page.getByText("No run matches the filter.").waitFor();
      expect(page.url()).toContain("q=nothing+like+it");
      await page.getByLabel("Name of the view").fill("Empty ones");
      await page.getByRole("button", { name: "Save this view" }).click();
      await page.goto(`${stage.url}/runs`);
      await page.getByLabel(`Select ${id}`).check();
      await page.getByRole("button", { name: "Delete 1" }).click();
      expect(await violations(page)).toEqual([]);
      await page.getByRole("button", { name: "No", exact: true }).click();
      await page.getByRole("button", { name: "Select none" }).click();
      await page.getByRole("link", { name: "Empty ones" }).click();
      await page.getByText("No run matches the filter.").waitFor();
      await page.getByRole("button", { name: "Forget the view Empty ones" }).click();
      await page.getByLabel("Name of the view").waitFor();
      // A panel that fails leaves the others alone.
      await page.route(`**/${id}/snapshot`, async (route) => {
        const response = await route.fetch();
        const body = (await response.json()) as { run: object };
        const verification = { status: "passed", issues: { length: 1 } };
        await route.fulfill({ json: { ...body, run: { ...body.run, verification } } });
      });
      await page.goto(`${stage.url}/runs/${id}`);
      await page.getByText("The result cannot be shown").waitFor();
      await page.getByRole("heading", { name: "Activity" }).waitFor();
      await page.unroute(`**/${id}/snapshot`);

      await page.goto(`${stage.url}/costs?by=run`);
      await page.getByRole("row", { name: new RegExp(id) }).waitFor();
    }, /slice is not a function/),
  );

  test(
    "has a docked transcript that opens at its end with one request and takes messages",
    onStage(async (stage) => {
      const tools = Array.from({ length: 700 }, (_, i) => `Tool${i}`);
      const hangs = { match: { role: "worker" }, turns: [{ tools, say: "The last words.", then: "hang" }] };
      const id = await confirmed(stage, [...mainSession([{ id: "a" }]), hangs], "ابدأ من هنا ".repeat(40));
      await stage.engine.until(id, ({ workers }) => workers["a"]?.session.turn != null);
      const page = await stage.page(`/runs/${id}`, { viewport: { width: 1440, height: 900 } });
      await untilStatus(page, "a", "Working");
      const asked: string[] = [];
      page.on("request", (request) => {
        if (request.url().includes("/transcript?")) asked.push(request.url());
      });
      await page.locator('.task-node[data-task="a"]').click();
      const transcript = page.getByRole("region", { name: "Transcript" });
      await transcript.getByText("The last words.").waitFor();
      expect(asked[0]).toContain("tail=300");
      expect(await transcript.locator(".entry").count()).toBeLessThanOrEqual(300);
      await transcript.getByRole("button", { name: /Show earlier/ }).click();
      await expect.poll(() => transcript.locator(".entry").count()).toBeGreaterThan(500);
      await transcript.getByLabel("Kind of entries").selectOption("Words");
      await expect.poll(() => transcript.locator(".entry").count()).toBe(1);
      await transcript.getByText("The last words.").waitFor();
      await transcript.getByLabel("Kind of entries").selectOption("Tools");
      await expect.poll(() => transcript.locator(".entry").count()).toBeGreaterThan(500);
      expect(await transcript.getByText("The last words.").count()).toBe(0);
      await transcript.getByLabel("Kind of entries").selectOption({ index: 0 });
      await transcript.getByLabel("Find in the transcript").fill("Tool699");
      await expect.poll(() => transcript.locator(".entry").count()).toBe(1);
      // Escape in a field belongs to the field.
      await page.keyboard.press("Escape");
      expect(await transcript.count()).toBe(1);

      // The panel covers neither the buttons of the run nor those of the task.
      expect(await isUncovered(page, ".run-header .run-actions .button")).toBe(true);
      expect(await isUncovered(page, ".task-details .worker-actions .button")).toBe(true);
      await page.getByLabel("Message to a").fill("Be brief");
      await page.getByRole("button", { name: "Send" }).click();
      await expect.poll(() => stage.engine.get(id)!.messages.map(({ text }) => text)).toEqual(["Be brief"]);

      // A link to an entry opens the part around it. The whole transcript can be downloaded.
      await page.route("**/transcript?after=0*", async (route) => {
        const response = await route.fetch();
        const read = (await response.json()) as { n: number }[];
        const entries = read.map((entry) => (entry.n === 50 ? { ...entry, id: "call" } : entry));
        const result = { n: 300, type: "toolResult", id: "call", text: "forty-eight <b>lines</b>" };
        await route.fulfill({ json: entries.map((entry) => (entry.n === 300 ? result : entry)) });
      });
      // The page before polls until it is left.
      page.once("framenavigated", () => (asked.length = 0));
      await page.goto(`${stage.url}/runs/${id}?session=a&entry=50`);
      await transcript.locator(".entry.is-linked").waitFor();
      expect(await transcript.locator(".entry.is-linked").innerText()).toMatch(/\d\d:\d\d:\d\d\s+Tool48/);
      await transcript.getByRole("link", { name: "Link to entry 50" }).waitFor();
      await transcript.locator(".entry-tool details summary", { hasText: "Tool48" }).click();
      await transcript.getByText("forty-eight <b>lines</b>").waitFor();
      expect(asked).toEqual([expect.stringMatching(/after=0&limit=300/)]);
      await expect
        .poll(() =>
          page.evaluate("document.querySelector('.entry.is-linked').getBoundingClientRect().top < innerHeight"),
        )
        .toBe(true);
      await transcript.getByRole("button", { name: "Show later" }).click();
      await expect.poll(() => transcript.locator(".entry").count()).toBe(599);
      const lines = await page.evaluate(
        "fetch(document.querySelector('a[download]').href).then((response) => response.text())",
      );
      expect(
        String(lines)
          .trim()
          .split("\n")
          .map((line) => (JSON.parse(line) as { n: number }).n),
      ).toEqual(Array.from({ length: 702 }, (_, index) => index + 1));
      await stage.engine.subSessions.register("child-1", stage.engine.get(id)!.workers["a"]!.sessionId);
      await page.getByRole("link", { name: "Sub-sessions 1" }).click();
      await page.getByRole("list", { name: "Sub-sessions" }).getByText("child-1").waitFor();
      expect(await violations(page)).toEqual([]);
      await page.getByRole("link", { name: "Prompt", exact: true }).click();
      await page.getByText(/^Prompt 1, /).waitFor();

      await page.unroute("**/transcript?after=0*");
      // A link cannot put words on the page.
      await page.goto(`${stage.url}/runs/${id}?session=Tutti%20says%20yes`);
      await page.getByText("This run has no task with this name.").waitFor();
      expect(await page.getByText("Tutti says yes").count()).toBe(0);

      // A paused clock stands still, and paused workers are not at work.
      await page.clock.install();
      await page.goto(`${stage.url}/runs/${id}`);
      await page.getByRole("button", { name: "Pause", exact: true }).waitFor();
      const time = () => page.locator(".facts dd").first().innerText();
      const atWork = await time();
      await page.clock.runFor(5000);
      await expect.poll(time).not.toBe(atWork);
      await page.getByRole("button", { name: "Pause", exact: true }).click();
      await untilStatus(page, "a", "Paused");
      await page.getByRole("heading", { name: "Paused 1" }).waitFor();
      const before = await time();
      await page.clock.runFor(60_000);
      expect(await time()).toBe(before);

      // On a narrow screen the workers come before the graph. In the list, where a request is one line, its beginning is visible.
      await page.setViewportSize({ width: 360, height: 740 });
      const [workers, graph] = [
        await page.locator(".workers").boundingBox(),
        await page.locator(".graph").boundingBox(),
      ];
      expect(workers!.y).toBeLessThan(graph!.y);
      await page.setViewportSize({ width: 1440, height: 900 });
      await page.goto(`${stage.url}/runs`);
      await page.locator(".run-row-request").waitFor();
      expect(
        await page.evaluate(`(() => {
          const box = document.querySelector(".run-row-request");
          const range = document.createRange();
          const text = document.createTreeWalker(box, NodeFilter.SHOW_TEXT).nextNode();
          range.setStart(text, 0);
          range.setEnd(text, 3);
          const [word, outer] = [range.getBoundingClientRect(), box.getBoundingClientRect()];
          return word.left >= outer.left && word.right <= outer.right + 1;
        })()`),
      ).toBe(true);
    }),
  );

  test(
    "opens one connection for all its pages, and notices that it is half open",
    onStage(async (stage) => {
      const tasks = [{ id: "a" }, { id: "b", dependencies: ["a"] }, { id: "c", dependencies: ["b"] }];
      const hangs = { match: { role: "worker" }, turns: [{ say: "hm", then: "hang" }] };
      const id = await confirmed(stage, [...mainSession(tasks), hangs], "Write three pages");
      await stage.engine.until(id, ({ workers }) => workers["a"]?.session.turn != null);
      const page = await stage.page("/", { viewport: { width: 360, height: 740 } });
      await page.getByText("Live", { exact: true }).waitFor();
      const sockets: string[] = [];
      page.on("websocket", (socket) => sockets.push(socket.url()));
      await page.reload();
      await page.getByText("Live", { exact: true }).waitFor();
      await page.getByRole("link", { name: "Runs" }).click();
      await page.locator(".run-row").click();
      await untilStatus(page, "a", "Working");
      // On a phone the graph is enlarged with its buttons.
      const node = page.locator('.task-node[data-task="a"]');
      const width = async () => (await node.boundingBox())!.width;
      await page.getByRole("button", { name: "Whole plan" }).click();
      await expect.poll(async () => (await width()) < 150).toBe(true);
      for (let clicks = 0; clicks < 20 && (await width()) <= 150; clicks++) {
        const last = await width();
        await page.getByRole("button", { name: "Zoom in" }).click();
        await expect.poll(async () => (await width()) > last).toBe(true);
      }
      expect(await width()).toBeGreaterThan(150);
      await page.getByRole("link", { name: "Inbox" }).click();
      await page.getByRole("heading", { name: "Nothing waits for you" }).waitFor();
      expect(sockets.length).toBe(1);

      // The socket stays open, but no answer comes any more: only the check of the server finds out.
      await page.clock.install();
      let isDead = false;
      await page.routeWebSocket(/events/, (socket) => {
        if (isDead) return void socket.close();
        const real = socket.connectToServer();
        real.onMessage((message) => void (isDead || socket.send(message)));
      });
      await page.reload();
      await page.getByText("Live", { exact: true }).waitFor();
      isDead = true;
      await page.route("**/api/health", (route) => route.abort());
      await page.clock.runFor(30_000);
      await page.getByText("Reconnecting").waitFor();

      // The browser may know it first.
      isDead = false;
      await page.unroute("**/api/health");
      await page.clock.runFor(30_000);
      await page.getByText("Live", { exact: true }).waitFor();
      await page.clock.pauseAt(Date.now() + 3_600_000);
      isDead = true;
      await page.route("**/api/health", (route) => route.abort());
      await page.evaluate("dispatchEvent(new Event('offline'))");
      await page.getByText("Reconnecting").waitFor();
    }, /ERR_FAILED/),
  );

  test(
    "notices that the connection is dead, forgets errors when the server is back, and asks for a reload after an upgrade",
    onStage(async (stage) => {
      const id = await confirmed(
        stage,
        [...mainSession([{ id: "a" }]), asking("a", "Which colour?")],
        "Paint the page",
      );
      await stage.engine.until(id, ({ inbox }) => Object.keys(inbox).length === 1);
      const page = await stage.page(`/runs/${id}`, { emptyCache: true });
      await page.getByText("Live", { exact: true }).waitFor();
      await page.getByLabel("Your answer").fill("Green");
      await page.context().setOffline(true);
      await page.getByText("Reconnecting").waitFor();
      await page.context().setOffline(false);
      await page.getByText("Live", { exact: true }).waitFor();

      await stage.stopServer();
      await page.getByText("Reconnecting").waitFor();
      await page.getByRole("button", { name: "Answer", exact: true }).click();
      await page.getByText("The server does not respond.").waitFor();
      expect(await page.getByLabel("Your answer").inputValue()).toBe("Green");
      // A page whose scripts are not loaded yet appears when the server is back.
      await page.getByRole("link", { name: "Costs" }).click();
      await page.getByText("Loading …").waitFor();
      await stage.startServer("0.0.0");
      await page.getByRole("heading", { name: "Costs" }).waitFor();
      await page.goBack();
      await expect.poll(() => page.getByLabel("Your answer").inputValue()).toBe("Green");
      // So do parts of one page in two outages.
      for (const key of ["Control+k", "?"]) {
        await stage.stopServer();
        await page.getByText("Reconnecting").waitFor();
        await page.locator("main").focus();
        const reloaded = page.waitForEvent("load");
        const lost = page.waitForEvent("requestfailed", (request) => request.url().includes("/assets/"));
        await page.keyboard.press(key);
        await lost;
        await stage.startServer("0.0.0");
        await reloaded;
        await page.getByText("Live", { exact: true }).waitFor();
        await page.locator("main").focus();
        await page.keyboard.press(key);
        await page.getByRole("dialog").waitFor();
        await page.keyboard.press("Escape");
      }
      await stage.stopServer();
      await page.getByRole("button", { name: "Answer", exact: true }).click();
      await page.getByText("The server does not respond.").waitFor();
      await stage.startServer("0.0.1");
      await page.getByText("Live", { exact: true }).waitFor();
      await page.getByText("The server does not respond.").waitFor({ state: "detached" });
      await page.getByText("The server runs another version of Tutti now.").waitFor();
      expect(await statusOf(page, "a")).toBe("Needs you");

      // Without a session the page of the server takes a token.
      await page.context().clearCookies();
      await page.goto(`${stage.url}/?token=wrong`);
      await page.getByText("This token is wrong, expired or revoked.").waitFor();
      await page.getByLabel("Token").fill(new URL(stage.openUrl).searchParams.get("token")!);
      await page.getByRole("button", { name: "Sign in" }).click();
      await page.getByRole("heading", { name: "Inbox" }).waitFor();
    }, /ERR_CONNECTION|ERR_INTERNET|WebSocket connection|status of 401/),
  );
});
