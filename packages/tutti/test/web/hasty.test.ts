// A user and a network that do not wait for the page: presses while it moves, keys while it loads, requests that are lost.
import type { Locator, Page } from "playwright-core";
import { describe, expect, test } from "vitest";
import type { Stage } from "./stage.ts";
import { withBrowser } from "./with-browser.ts";
import { done, mainSession, worker } from "../lab/scenarios.ts";

const WORDS = "These are my words.";

const finished = async (stage: Stage): Promise<string> => {
  const writes = worker("a", { say: WORDS, write: { "docs/a.md": "# a\n" }, block: done({}) });
  const { id } = await stage.begin([...mainSession([{ id: "a" }]), writes], "Write a page", {
    config: { autoSpawn: true },
  });
  await stage.until(id, "completed");
  return id;
};

/** Holds back the requests to paths that match until the returned function is called. */
async function hold(page: Page, path: RegExp): Promise<() => void> {
  const held = Promise.withResolvers<void>();
  await page.route(
    (url) => path.test(url.pathname),
    async (route) => {
      await held.promise;
      await route.continue();
    },
  );
  return held.resolve;
}

const taskNode = (page: Page) => page.locator('.task-node[data-task="a"]');
const transcriptOf = (page: Page) => page.getByRole("region", { name: "Transcript" });

/** The middle of the task in the graph, once the graph has its place. */
async function placeOfTask(page: Page): Promise<{ x: number; y: number }> {
  // Playwright waits until a target no longer moves.
  await taskNode(page).hover();
  const { x, y, width, height } = (await taskNode(page).boundingBox())!;
  return { x: x + width / 2, y: y + height / 2 };
}

describe("A press", () => {
  const onStage = withBrowser();

  test(
    "reaches the control below it although the page moves the control before the release, and is cancelled by a long way",
    onStage(async (stage) => {
      const id = await finished(stage);
      const page = await stage.page("/");
      let showFiles = await hold(page, /\/result$/);
      await page.goto(`${stage.url}/runs/${id}`);
      // Only the files of the result may move the graph, not the result itself.
      await page.locator(".result").waitFor();
      let { x, y } = await placeOfTask(page);
      await page.mouse.down();
      showFiles();
      await page.getByText("docs/a.md").waitFor();
      // The files of the result have pushed the graph down.
      expect((await taskNode(page).boundingBox())!.y).toBeGreaterThan(y);
      await page.mouse.up();
      await transcriptOf(page).getByText(WORDS).waitFor();

      await page.unrouteAll({ behavior: "wait" });
      showFiles = await hold(page, /\/result$/);
      await page.goto(`${stage.url}/runs/${id}`);
      await page.locator(".result").waitFor();
      ({ x, y } = await placeOfTask(page));
      await page.mouse.down();
      showFiles();
      await page.getByText("docs/a.md").waitFor();
      await page.mouse.move(x + 30, y);
      await page.mouse.up();
      // Another click takes effect, so that one would have done so before it.
      await page.getByRole("button", { name: "Table", exact: true }).click();
      await page.getByRole("region", { name: "Table of tasks" }).waitFor();
      expect(page.url()).not.toContain("session");
    }),
  );

  test(
    "keeps its Alt key while the page moves its button, so it copies the command and gives no order",
    onStage(async (stage) => {
      const hangs = worker("a", { say: "hm", then: "hang" });
      const { id } = await stage.begin([...mainSession([{ id: "a" }]), hangs], "Write a page", {
        config: { autoSpawn: true },
      });
      await stage.engine.until(id, ({ workers }) => workers["a"]?.session.turn != null);
      const page = await stage.page(`/runs/${id}`, { permissions: ["clipboard-read", "clipboard-write"] });
      await page.getByRole("button", { name: "Pause", exact: true }).hover();
      await page.keyboard.down("Alt");
      await page.mouse.down();
      await page.evaluate(`document.querySelector("main").style.paddingTop = "300px"`);
      await page.mouse.up();
      await page.keyboard.up("Alt");
      await page.getByText(`Copied: tutti pause ${id}`).waitFor();
      expect(stage.engine.get(id)!.status).toBe("running");
    }),
  );

  test(
    "on a task opens it although the hand moves a little, and a longer way moves the graph",
    onStage(async (stage) => {
      const page = await stage.page(`/runs/${await finished(stage)}`);
      // The files of the result push the graph down, away from the pointer.
      await page.getByText("docs/a.md").waitFor();
      const { x, y } = await placeOfTask(page);
      await page.mouse.down();
      await page.mouse.move(x + 40, y);
      await page.mouse.up();
      await expect.poll(async () => (await placeOfTask(page)).x).toBeGreaterThan(x + 30);
      expect(page.url()).not.toContain("session");
      await page.mouse.down();
      await page.mouse.move((await placeOfTask(page)).x + 4, y + 3);
      await page.mouse.up();
      await transcriptOf(page).getByText(WORDS).waitFor();
    }),
  );

  test(
    "twice on the button that closes a panel goes back once",
    onStage(async (stage) => {
      const id = await finished(stage);
      const page = await stage.page("/runs");
      await page.locator(".run-row").click();
      await taskNode(page).click();
      await transcriptOf(page).waitFor();
      await page.evaluate(`(() => {
        const button = document.querySelector("[aria-label='Close the transcript']");
        button.click();
        button.click();
      })()`);
      await transcriptOf(page).waitFor({ state: "detached" });
      await page.getByRole("link", { name: "Log", exact: true }).click();
      await page.waitForURL(`${stage.url}/runs/${id}?tab=log`);
      await page.goBack();
      await page.goBack();
      await page.waitForURL(`${stage.url}/runs`);
    }),
  );
});

describe("A key", () => {
  const onStage = withBrowser();

  test(
    "closes a panel that is still loading, and the panel leaves the focus where the user types or where it was opened",
    onStage(async (stage) => {
      const id = await finished(stage);
      const page = await stage.page("/");
      const showPanel = await hold(page, /transcript-panel-.*\.js$/);
      await page.goto(`${stage.url}/runs/${id}?view=table`);
      const line = page.locator('[data-worker="a"]');
      await line.click();
      await page.waitForURL(/session=a/);
      await page.keyboard.press("Escape");
      await page.waitForURL(`${stage.url}/runs/${id}?view=table`);
      await line.click();
      await page.waitForURL(/session=a/);
      await page.getByLabel("Find tasks").pressSequentially("so");
      showPanel();
      await transcriptOf(page).getByText(WORDS).waitFor();
      await page.keyboard.type("me");
      expect(await page.getByLabel("Find tasks").inputValue()).toBe("some");

      await page.getByLabel("Find tasks").fill("");
      await page.getByRole("button", { name: "Close the transcript" }).click();
      await transcriptOf(page).waitFor({ state: "detached" });
      // The panel had replaced the line that opened it.
      await line.focus();
      await page.keyboard.press("Enter");
      await transcriptOf(page).getByText(WORDS).waitFor();
      await page.keyboard.press("Escape");
      await page.locator('[data-worker="a"]:focus').waitFor();
    }),
  );

  test(
    "is text of the palette from the moment that it opens, also Enter, and Escape closes it before it is loaded",
    onStage(async (stage) => {
      const page = await stage.page("/runs");
      await page.getByRole("heading", { name: "No runs yet" }).waitFor();
      // Records the focus at the moment at which the dialog appears.
      await page.evaluate(`new MutationObserver(() => {
        if (document.querySelector("dialog")) window.focusAtFirst ??= document.activeElement.role ?? "";
      }).observe(document.body, { childList: true, subtree: true })`);
      let load = await hold(page, /palette-.*\.js$/);
      await page.keyboard.press("Control+k");
      await page.keyboard.press("x");
      await page.keyboard.press("Escape");
      await page.keyboard.press("g");
      await page.keyboard.press("s");
      await page.getByRole("heading", { name: "Schedules", exact: true }).waitFor();
      await page.keyboard.press("Control+k");
      await page.keyboard.type("go tto");
      for (const key of ["Backspace", "Backspace", "Backspace", "Backspace"]) await page.keyboard.press(key);
      await page.keyboard.type(" the costs\n");
      load();
      await page.waitForURL(`${stage.url}/costs`);
      expect(await page.evaluate("window.focusAtFirst")).toBe("combobox");
      expect(await page.getByRole("dialog").count()).toBe(0);
      // Keys of the other dialog are no text for this one.
      load = await hold(page, /shortcut-help-.*\.js$/);
      await page.keyboard.press("?");
      await page.keyboard.type("abc");
      load();
      await page.getByRole("dialog", { name: "Shortcuts" }).waitFor();
      await page.keyboard.press("Escape");
      await page.keyboard.press("Control+k");
      await page.getByRole("combobox").waitFor();
      expect(await page.getByRole("combobox").inputValue()).toBe("");
      // It opens again although its close event comes a frame later.
      await page.keyboard.press("Escape");
      await page.keyboard.press("Control+k");
      await page.keyboard.type("go to the inbox");
      await page.keyboard.press("Enter");
      await page.waitForURL(`${stage.url}/`);
      await page.getByRole("button", { name: "Commands and runs" }).click();
      await page.getByRole("combobox").waitFor();
      await page.keyboard.press("Escape");
      await page.getByRole("dialog").waitFor({ state: "detached" });
      expect(await page.evaluate("document.activeElement.ariaLabel")).toBe("Commands and runs (Ctrl+K)");
    }),
  );

  test(
    "that is held down does not answer the question of a command, and closing the palette gives the focus back",
    onStage(async (stage) => {
      const { id } = await stage.begin(mainSession([{ id: "a" }]), "Write a page");
      await stage.until(id, "confirming");
      const page = await stage.page(`/runs/${id}`);
      const words = page.getByLabel("Request changes");
      await words.fill("Without");
      await page.keyboard.press("Control+k");
      await page.getByRole("combobox").waitFor();
      await page.keyboard.press("Control+k");
      await page.getByRole("dialog").waitFor({ state: "detached" });
      await page.keyboard.type(" a");
      expect(await words.inputValue()).toBe("Without a");

      await page.keyboard.press("Control+k");
      await page.getByRole("combobox").fill("tutti cancel");
      await page.getByRole("option", { name: "Cancel this run" }).waitFor();
      for (let repeat = 0; repeat < 3; repeat++) await page.keyboard.down("Enter");
      await page.keyboard.up("Enter");
      await page.getByRole("dialog").getByRole("status").getByText("again").waitFor();
      expect(stage.engine.get(id)!.status).toBe("confirming");
      await page.keyboard.press("Enter");
      await stage.until(id, "cancelled");
    }),
  );

  test(
    "starts a run like another one only with the settings of that one",
    onStage(async (stage) => {
      const { id, agent } = await stage.begin(mainSession([{ id: "a" }]), "Write a page");
      const page = await stage.page("/runs");
      const showSettings = await hold(page, new RegExp(`/${id}$`));
      await page.goto(`${stage.url}/runs/new?from=${id}`);
      await page.getByLabel("Request").fill("Write two pages");
      await expect.poll(() => page.getByLabel("Folder", { exact: true }).inputValue()).toBe(stage.lab.repo);
      const start = page.getByRole("button", { name: "Start run" });
      expect(await start.isDisabled()).toBe(true);
      await page.getByLabel("Request").press("Control+Enter");
      showSettings();
      await start.click();
      await page.getByRole("heading", { name: "Write two pages" }).waitFor();
      expect(stage.engine.list().map((run) => run.agent)).toEqual([agent, agent]);
    }),
  );

  test(
    "answers an item as soon as the item is on the screen",
    onStage(async (stage) => {
      const { id } = await stage.begin(mainSession([{ id: "a" }]), "Write a page");
      await stage.until(id, "confirming");
      const page = await stage.page("/machine");
      // The first task of the browser after the item appears.
      await page.evaluate(`new MutationObserver((_, observer) => {
        if (!document.querySelector(".question")) return;
        observer.disconnect();
        document.body.dispatchEvent(new KeyboardEvent("keydown", { key: "r", bubbles: true }));
      }).observe(document.body, { childList: true, subtree: true })`);
      await page.getByRole("link", { name: "Inbox" }).click();
      await page.locator(".question textarea:focus").waitFor();
    }),
  );
});

describe("A request that is lost once while the connection of the events stays", () => {
  const onStage = withBrowser();

  const reads: [string, RegExp, string, (page: Page) => Locator][] = [
    ["the snapshot of a run", /\/snapshot$/, "/runs/ID", taskNode],
    ["the last events of a run", /\/events$/, "/runs/ID", (page) => page.locator(".activity li").first()],
    ["the files of a result", /\/result$/, "/runs/ID", (page) => page.getByText("docs/a.md")],
    ["a transcript", /\/transcript$/, "/runs/ID?session=a", (page) => transcriptOf(page).getByText(WORDS)],
    ["a linked entry", /\/transcript$/, "/runs/ID?session=a&entry=1", (page) => transcriptOf(page).getByText(WORDS)],
    ["a timeline", /\/timeline$/, "/runs/ID?view=timeline", (page) => page.locator(".timeline-bar").first()],
    ["a difference", /\/diff$/, "/runs/ID?tab=changes", (page) => page.locator(".file-diff").first()],
    ["the list of runs", /\/api\/orchestrator$/, "/runs", (page) => page.locator(".run-row")],
    ["the entry script", /\/index-.*\.js$/, "/runs/ID", taskNode],
    ["a script that the entry imports", /\/live-store-.*\.js$/, "/runs/ID", taskNode],
    ["the script of the page", /\/app-.*\.js$/, "/runs/ID", taskNode],
  ];
  for (const [name, path, address, shown] of reads)
    test(
      `is sent again: ${name}`,
      onStage(async (stage) => {
        const id = await finished(stage);
        const page = await stage.page("/machine");
        let requests = 0;
        await page.route(
          (url) => path.test(url.pathname),
          (route) => (requests++ === 0 ? route.abort("connectionreset") : route.continue()),
        );
        await page.goto(stage.url + address.replace("ID", id));
        await shown(page).waitFor();
        expect(requests).toBeGreaterThan(1);
        await page.getByText("The server does not respond").waitFor({ state: "detached" });
      }, /ERR_CONNECTION_RESET/),
    );
});
