// The dashboard in a real browser, against a real server with real sessions.
import { join } from "node:path";
import type { Locator } from "playwright-core";
import { describe, expect, test } from "vitest";
import { violations } from "./axe.ts";
import { statusOf, untilStatus, untilStill, withBrowser } from "./with-browser.ts";
import { done, goodWorker, mainSession, worker } from "../lab/scenarios.ts";
import { openSqliteStore } from "../../src/store/sqlite.ts";
import type { NewEvent } from "../../src/store/store.ts";

const write = (name: string) => ({ [`docs/${name}.md`]: `# ${name}\n` });

/** Two parallel tasks, one of them slow, and a task that depends on both. */
const PLAN = [{ id: "first" }, { id: "slow" }, { id: "last", dependencies: ["first", "slow"] }];
const slowly = (gate: { file: string }) => [
  ...mainSession(PLAN),
  worker("slow", {
    waitForFile: gate.file,
    tools: ["Read", "Write"],
    write: write("slow"),
    block: done({ summary: "took its time" }),
  }),
  goodWorker,
];

describe("The dashboard", () => {
  const onStage = withBrowser();

  test(
    "opens at the printed URL and removes the token from the address bar",
    onStage(async (stage) => {
      const page = await stage.page();
      await page.getByRole("heading", { name: "Nothing waits for you" }).waitFor();
      expect(page.url()).toBe(`${stage.url}/`);
      await page.getByRole("link", { name: "Runs" }).click();
      await page.getByRole("heading", { name: "No runs yet" }).waitFor();
      expect(await page.getByRole("textbox", { name: "Command that starts a run" }).inputValue()).toMatch(
        /^tutti run /,
      );
    }),
  );

  test(
    "lists the runs that need the user first and the others by age",
    onStage(async (stage) => {
      const finished = await stage.begin([...mainSession([{ id: "a" }]), goodWorker], "The first request");
      await stage.until(finished.id, "confirming");
      await stage.engine.order(finished.id, "confirm");
      await stage.until(finished.id, "completed");
      const waiting = await stage.begin(mainSession(PLAN), "The second request");
      await stage.until(waiting.id, "confirming");

      const page = await stage.page("/runs");
      const rows = page.locator(".run-row");
      await rows.nth(1).waitFor();
      const [second, first] = await rows.allInnerTexts();
      expect(second).toMatch(/Needs you[\s\S]*The second request[\s\S]*Plan of 3 tasks to confirm/);
      expect(first).toMatch(/Completed[\s\S]*The first request[\s\S]*1 of 1 tasks/);
      // An effect sets the title, a frame after the rows.
      await expect.poll(() => page.title()).toMatch(/^\(1\)/);

      // A run that is created while the page is open appears without a reload.
      await stage.begin(mainSession(PLAN), "The third request", { start: false });
      await page.getByText("The third request").waitFor();
      expect(await rows.nth(1).innerText()).toMatch(/Not started[\s\S]*The third request/);
    }),
  );

  test(
    "tells runs at work, waiting and stalled apart, and renders only the rows of many runs that are near the window",
    onStage(async (stage) => {
      const hangs = { match: { role: "worker" }, turns: [{ say: "hm", then: "hang" }] };
      const config = { autoSpawn: true, progressDetectionInterval: 1000, budget: { usd: 5 } };
      const quiet = await stage.begin([...mainSession([{ id: "a" }]), hangs], "Fall silent", { config });
      const { workers } = await stage.engine.until(quiet.id, (run) => run.workers["a"]?.session.turn != null);
      const refused = worker("a", { then: "fail:rate_limit:3600000" });
      const held = await stage.begin([...mainSession([{ id: "a" }]), refused], "Wait for the provider", { config });
      await stage.engine.until(held.id, ({ heldSince }) => heldSince !== undefined);
      for (let i = 0; i < 150; i++) await stage.begin([hangs], `Created ${i}`, { start: false });

      const page = await stage.page("/runs?q=Fall");
      const row = page.locator(".run-row", { hasText: "Fall silent" });
      // One event counts as work for a second only, which a busy machine may miss.
      const untilWorking = (word: Locator) =>
        expect
          .poll(() => {
            stage.say(quiet.id, workers["a"]!.sessionId, "I am still here.");
            return word.getByText("Working").isVisible();
          })
          .toBe(true);
      await row.getByText("Stalled").waitFor();
      await row.getByText("$0.00 of $5.00").waitFor();
      await untilWorking(row);
      await page.getByLabel("Find runs").fill("");

      // The oldest runs come last, so they are rendered when the user scrolls to them.
      await page.getByText("Created 149").waitFor();
      const rows = page.locator(".run-item");
      // The list is measured after its first frame, and has 100 rows until then.
      await expect.poll(() => rows.count()).toBeLessThan(100);
      expect(await rows.first().getAttribute("aria-setsize")).toBe("152");
      expect(await row.count()).toBe(0);
      expect(await violations(page)).toEqual([]);
      await page.evaluate("scrollTo(0, document.documentElement.scrollHeight)");
      await row.waitFor();
      await page.locator(".run-row", { hasText: "Wait for the provider" }).getByText("Waiting").waitFor();
      expect(await page.getByText("Created 149").count()).toBe(0);
      expect(await rows.last().getAttribute("aria-posinset")).toBe("152");

      // The page of a run has the same word.
      const word = page.locator(".run-title .badge");
      await page.goto(`${stage.url}/runs/${held.id}`);
      await word.getByText("Waiting").waitFor();
      await page.goto(`${stage.url}/runs/${quiet.id}`);
      await word.getByText("Stalled").waitFor();
      await untilWorking(word);
    }),
  );

  test(
    "lists a run with failed tasks as degraded, among those that need the user",
    onStage(async (stage) => {
      const failed = { phase: "completion", data: { task_id: "{TASK_ID}", status: "failed", error: "no luck" } };
      const sessions = [...mainSession([{ id: "a" }, { id: "b" }]), worker("a", { block: failed }), goodWorker];
      const { id } = await stage.begin(sessions, "Write two pages", { config: { autoSpawn: true } });
      await stage.until(id, "completed");
      const page = await stage.page("/runs");
      const row = page.getByRole("region", { name: /^Needs you/ }).locator(".run-row");
      await row.waitFor();
      expect(await row.innerText()).toMatch(
        /^Degraded[\s\S]*Write two pages[\s\S]*1 item for you\s+a did not complete/,
      );
      await row.click();
      await page.locator(".run-title .badge").getByText("Degraded").waitFor();
      const inbox = await stage.page();
      const item = inbox.getByRole("region", { name: "Failed task of a" });
      await item.waitFor();
      expect(await item.innerText()).toMatch(/without an answer:\s+leave it/);
      // An answered failure needs the user no more, and the result stays.
      await page.getByRole("button", { name: "Leave it: a" }).click();
      await page.getByRole("link", { name: "Runs" }).click();
      await page.getByText(/1 of 2 tasks/).waitFor();
      expect(await page.locator(".run-row").innerText()).toMatch(/^Degraded/);
    }),
  );

  test(
    "follows a run from its start through the confirmed plan to the result",
    onStage(async (stage) => {
      const gate = stage.lab.gate();
      const run = await stage.begin(slowly(gate), "Write three pages", { start: false });
      const page = await stage.page(`/runs/${run.id}`);
      await page.getByRole("button", { name: "Start" }).click();
      await page.getByRole("heading", { name: "Confirm this plan of 3 tasks?" }).waitFor();
      expect(await page.locator(".plan-task").allInnerTexts()).toEqual([
        expect.stringMatching(/first[\s\S]*Title of first[\s\S]*Do first[\s\S]*starts at once/),
        expect.stringMatching(/slow[\s\S]*starts at once/),
        expect.stringMatching(/last[\s\S]*after[\s\S]*first[\s\S]*slow/),
      ]);
      expect(await statusOf(page, "first")).toBe("Planned");

      await page.getByRole("button", { name: "Confirm plan" }).click();
      await untilStatus(page, "first", "Completed");
      // The graph is a new one since the confirmation, and the page may show several events at once.
      await untilStill(page, '.task-node[data-task="last"]');
      const box = await page.locator('.task-node[data-task="last"]').boundingBox();
      expect(await statusOf(page, "slow")).toMatch(/Starting|Working/);
      expect(await statusOf(page, "last")).toBe("Waiting");
      gate.open();
      await untilStatus(page, "slow", "Completed");

      await page.getByRole("heading", { name: "Success" }).waitFor();
      expect(await page.locator(".census").innerText()).toMatch(/3 planned\s*=\s*3 completed/);
      const result = await stage.engine.result(run.id);
      expect(await page.getByRole("textbox", { name: "Command that shows the changes" }).inputValue()).toContain(
        `..${result.branch}`,
      );
      for (const file of result.outputFiles) await page.getByText(file, { exact: true }).waitFor();
      expect(await page.locator(".stepper").innerText()).toMatch(
        /Analysis[\s\S]*Plan[\s\S]*Work[\s\S]*3 of 3[\s\S]*Merge/,
      );
      // Changes of status do not move a task in the graph.
      const after = await page.locator('.task-node[data-task="last"]').boundingBox();
      expect([after!.x, after!.width]).toEqual([box!.x, box!.width]);
    }),
  );

  test(
    "opens the transcript of a worker by mouse and by keyboard",
    onStage(async (stage) => {
      const run = await stage.begin(
        [
          ...mainSession([{ id: "a" }]),
          worker("a", { say: "These are my words.", tools: ["Grep"], write: write("a"), block: done({}) }),
        ],
        "Write a page",
      );
      await stage.until(run.id, "confirming");
      await stage.engine.order(run.id, "confirm");
      await stage.until(run.id, "completed");
      const page = await stage.page(`/runs/${run.id}`);
      const node = page.locator('.task-node[data-task="a"]');
      await node.click();
      const transcript = page.getByRole("region", { name: "Transcript" });
      await transcript.getByText("These are my words.").waitFor();
      await transcript.getByText("Grep").waitFor();
      expect(await transcript.getByText("Prompt 1").count()).toBe(1);
      expect(await transcript.locator(".entry-prompt .long-text").isVisible()).toBe(false);
      await transcript.getByText("Prompt 1").click();
      expect(await transcript.locator(".entry-prompt .long-text").innerText()).toContain("Do a");

      await page.keyboard.press("Escape");
      await transcript.waitFor({ state: "detached" });
      await node.focus();
      await page.keyboard.press("Enter");
      await transcript.getByText("These are my words.").waitFor();
      // The URL names the open transcript, so a reload shows it again.
      await page.reload();
      await transcript.getByText("These are my words.").waitFor();
      await page.getByRole("button", { name: "Close the transcript" }).click();
      await page.waitForURL(`${stage.url}/runs/${run.id}`);
      await transcript.waitFor({ state: "detached" });
      // Back does not open the panel again.
      await page.goBack();
      expect(await transcript.count()).toBe(0);
    }),
  );

  test(
    "shows the same state after a reload in the middle of a run",
    onStage(async (stage) => {
      const run = await stage.begin(slowly(stage.lab.gate()), "Write three pages");
      await stage.until(run.id, "confirming");
      await stage.engine.order(run.id, "confirm");
      const page = await stage.page(`/runs/${run.id}`);
      await untilStatus(page, "first", "Completed");
      await untilStatus(page, "slow", "Working");
      const readPage = async () => [
        await page.locator(".stepper").innerText(),
        ...(await page.locator(".task-node").allInnerTexts()),
        await page.locator(".activity").innerText(),
      ];
      const stateBeforeReload = await readPage();
      await page.reload();
      await untilStatus(page, "slow", "Working");
      await page.getByText("Live", { exact: true }).waitFor();
      expect(await readPage()).toEqual(stateBeforeReload);

      // Cancel asks for confirmation: decline it once, then accept it.
      await page.getByRole("button", { name: "Cancel run" }).click();
      await page.locator("button:focus", { hasText: "No" }).press("Enter");
      await page.locator("button:focus", { hasText: "Cancel run" }).waitFor();
      await page.getByRole("button", { name: "Cancel run" }).click();
      await page.getByRole("button", { name: "Yes, cancel" }).click();
      await page.getByRole("heading", { name: "Cancelled" }).waitFor();
      expect(await page.locator(".census").innerText()).toMatch(
        /3 planned\s*=\s*1 completed\s*\+\s*1 cancelled\s*\+\s*1 never/,
      );
    }),
  );

  test(
    "reconnects by itself after an outage of the server",
    onStage(async (stage) => {
      const gate = stage.lab.gate();
      const run = await stage.begin(slowly(gate), "Write three pages");
      await stage.until(run.id, "confirming");
      await stage.engine.order(run.id, "confirm");
      const page = await stage.page(`/runs/${run.id}`, { reducedMotion: "no-preference" });
      await untilStatus(page, "slow", "Working");
      // An endless animation would draw the page again for as long as work lasts. Transitions of a new status may run.
      expect(
        await page.evaluate(
          "document.getAnimations().filter((each) => each.effect.getComputedTiming().activeDuration === Infinity).length",
        ),
      ).toBe(0);
      await stage.stopServer();
      await page.getByText("Reconnecting").waitFor();
      expect(await statusOf(page, "slow")).toBe("Working");
      gate.open();
      await stage.startServer();
      await page.getByText("Live", { exact: true }).waitFor();
      await page.getByRole("heading", { name: "Success" }).waitFor();
      // Each event was folded once: a page that reads the whole log again shows the same.
      expect(await page.locator(".activity li", { hasText: "slow completed" }).count()).toBe(1);
      await page.getByText("docs/slow.md").waitFor();
      // Parts of the page are chunks of their own, which load after it.
      const untilLoaded = () => page.getByText("Loading …").first().waitFor({ state: "hidden" });
      await untilLoaded();
      const live = await page.locator("main").innerText();
      await page.reload();
      await page.getByText("docs/slow.md").waitFor();
      await untilStatus(page, "last", "Completed");
      await untilLoaded();
      expect(await page.locator("main").innerText()).toBe(live);
    }, /ERR_CONNECTION|WebSocket connection/),
  );

  test(
    "skips an event of an unknown type and shows the events after it",
    onStage(async (stage) => {
      const run = await stage.begin([...mainSession([{ id: "a" }]), goodWorker], "Write a page");
      await stage.until(run.id, "confirming");
      const page = await stage.page(`/runs/${run.id}`);
      await page.getByRole("button", { name: "Confirm plan" }).waitFor();
      await stage.stopServer();
      await page.getByText("Reconnecting").waitFor();
      const store = openSqliteStore(join(stage.lab.data, "tutti.db"));
      const event = { type: "worker:levitated", data: { taskId: "a" }, timestamp: Date.now() } as unknown as NewEvent;
      await store.append(run.id, store.read({ run: run.id }).length, () => [event]);
      await store.close();
      await stage.startServer();
      await page.getByText("Live", { exact: true }).waitFor();
      await page.getByRole("button", { name: "Confirm plan" }).click();
      await page.getByRole("heading", { name: "Success" }).waitFor();
      expect(await page.getByText("This page is older than the server").count()).toBe(0);
    }, /ERR_CONNECTION|WebSocket connection/),
  );

  test(
    "reads an event from the log that its connection did not deliver",
    onStage(async (stage) => {
      const run = await stage.begin([...mainSession([{ id: "a" }, { id: "b" }]), goodWorker], "Write two pages");
      await stage.until(run.id, "confirming");
      const page = await stage.page("/runs");
      const lost: string[] = [];
      await page.routeWebSocket(/events/, (socket) => {
        const real = socket.connectToServer();
        real.onMessage((message) => {
          const { type } = JSON.parse(String(message)) as { type: string };
          if (type === "worker:completed" && lost.length === 0) lost.push(type);
          else socket.send(message);
        });
      });
      await page.goto(`${stage.url}/runs/${run.id}`);
      await page.getByRole("button", { name: "Confirm plan" }).click();
      await page.getByRole("heading", { name: "Success" }).waitFor();
      expect(lost).toEqual(["worker:completed"]);
      for (const id of ["a", "b"]) await untilStatus(page, id, "Completed");
      await expect.poll(() => page.locator(".activity li", { hasText: /[ab] completed/ }).count()).toBe(2);
    }),
  );

  test(
    "sends the answer to a question",
    onStage(async (stage) => {
      const run = await stage.begin(
        [
          ...mainSession([{ id: "a" }]),
          worker("a", { then: "ask:Which colour?" }, { tools: ["Write"], write: write("a"), block: done({}) }),
        ],
        "Paint the page",
      );
      await stage.until(run.id, "confirming");
      await stage.engine.order(run.id, "confirm");
      const page = await stage.page(`/runs/${run.id}`);
      const question = page.getByRole("region", { name: "Question" });
      await question.getByText("Which colour?").waitFor();
      expect(await statusOf(page, "a")).toBe("Needs you");
      const workers = page.getByRole("region", { name: "Workers" });
      await workers.getByRole("heading", { name: "Needs you 1" }).waitFor();
      expect(await workers.getByRole("heading", { name: /^Working/ }).count()).toBe(0);
      expect(await question.getByRole("button", { name: "Answer" }).isDisabled()).toBe(true);
      await question.getByLabel("Your answer").fill("Green");
      await question.getByRole("button", { name: "Answer" }).click();
      await question.waitFor({ state: "detached" });
      await page.getByRole("heading", { name: "Success" }).waitFor();
    }),
  );

  test(
    "shows why a plan is invalid and offers no confirmation",
    onStage(async (stage) => {
      const run = await stage.begin(
        mainSession([
          { id: "a", dependencies: ["b"] },
          { id: "b", dependencies: ["a"] },
        ]),
        "Go round in circles",
      );
      await stage.until(run.id, "confirming");
      const page = await stage.page(`/runs/${run.id}`);
      await page.getByRole("heading", { name: "This plan is invalid" }).waitFor();
      expect(await page.getByRole("alert").innerText()).toMatch(/cycle/);
      expect(await page.getByRole("button", { name: "Confirm plan" }).count()).toBe(0);
      // The plan has a card of its own, so the page keeps no place for the other items.
      const scripts = await page.evaluate("performance.getEntriesByType('resource').map(({ name }) => name).join()");
      expect(scripts).toContain("plan-card");
      expect(scripts).not.toContain("inbox-cards");
    }),
  );

  test(
    "explains a missing run, a missing page and a missing sign-in",
    onStage(async (stage) => {
      const page = await stage.page("/runs/orch_aaaaaaaaaaaa");
      await page.getByRole("heading", { name: 'Run "orch_aaaaaaaaaaaa" does not exist' }).waitFor();
      expect(await page.getByRole("link", { name: "Go to the list of runs" }).getAttribute("href")).toBe("/runs");
      await page.goto(`${stage.url}/somewhere`);
      await page.getByRole("heading", { name: "Page not found" }).waitFor();
      await page.getByRole("link", { name: "Go to the list of runs" }).click();
      await page.getByRole("heading", { name: "No runs yet" }).waitFor();
      await page.context().clearCookies();
      await stage.begin(mainSession(PLAN), "Wakes the list up", { start: false });
      await page.getByRole("heading", { name: "This browser is not signed in" }).waitFor();
    }, /status of 40[14]/),
  );
});
