// Whole paths through the dashboard in a real browser: from a request to the merged result without a mouse, over the kill
// of the server, and to both sides of a conflict.
import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { Page } from "playwright-core";
import { describe, expect, test } from "vitest";
import { violations } from "./axe.ts";
import { untilStatus, withBrowser } from "./with-browser.ts";
import { finished, Lab, type Finished } from "../lab/lab.ts";
import { done, goodWorker, mainSession, worker } from "../lab/scenarios.ts";
import { createClient } from "../../src/client/client.ts";

const write = (name: string, text: string) => ({ [name]: `${text}\n` });

/** Presses Tab until the element with this text has the focus. */
async function tabTo(page: Page, text: string): Promise<void> {
  for (let steps = 0; steps < 150; steps++) {
    if ((await page.evaluate("document.activeElement.innerText")) === text) return;
    await page.keyboard.press("Tab");
  }
  throw new Error(`Tab does not reach ${text}.`);
}

/** Finds a command of the palette and carries it out. */
async function command(page: Page, words: string): Promise<void> {
  await page.keyboard.press("Control+k");
  await page.getByRole("combobox", { name: "Find a command or a run" }).waitFor();
  await page.keyboard.type(words);
  // Commands of a run are found as soon as the page has the list of runs, and Enter before does nothing.
  await page.locator(".palette [aria-selected=true]").waitFor();
  await page.keyboard.press("Enter");
}

/** Rejects with the output of a server that ends before it listens. */
async function serve(lab: Lab, port: string): Promise<{ child: ChildProcess; ended: Promise<Finished>; url: string }> {
  const child = lab.start(["--json", "serve", "--port", port]);
  // `finished` also reads what the server logs, which would block it otherwise.
  const ended = finished(child);
  const failed = ended.then(({ code, stderr }) => {
    throw new Error(`The server ended with ${code}: ${stderr}`);
  });
  const [text] = (await Promise.race([once(child.stdout!, "data"), failed])) as [string];
  failed.catch(() => {});
  return { child, ended, url: new URL((JSON.parse(text) as { url: string }).url).origin };
}

describe("The dashboard", () => {
  const onStage = withBrowser();

  test(
    "leads from a request to the merged result by keyboard alone, and copies the command of each button",
    onStage(async (stage) => {
      const asks = worker("a", { then: "ask:Which colour?" }, { write: write("a.md", "green"), block: done({}) });
      const config = { budget: { usd: 5 } };
      const { id } = await stage.begin([...mainSession([{ id: "a" }]), asks], "Paint it", { start: false, config });
      const page = await stage.page(`/runs/${id}`, { permissions: ["clipboard-read", "clipboard-write"] });
      await page.getByRole("heading", { name: "Paint it" }).waitFor();

      // The same again: the settings of the first run are in the form.
      await command(page, "same again");
      await expect.poll(() => page.getByLabel("Request").inputValue()).toBe("Paint it");
      expect(await page.getByLabel("Budget in US dollars").inputValue()).toBe("5");
      await page.keyboard.press("End");
      await page.keyboard.type(" green");
      // Without the template, the page does not know yet that the number of workers is the usual one.
      await expect
        .poll(() => page.getByRole("textbox", { name: "The same as a command" }).inputValue())
        .toMatch(/^tutti run 'Paint it green' --template documentation --cwd \S+ --agent script:\S+ --max-usd 5$/);
      await tabTo(page, "Start run");
      await page.keyboard.press("Enter");
      await page.getByRole("heading", { name: "Paint it green" }).waitFor();

      await page.getByText("You approve 1 task with a budget of $5.00.").waitFor();
      await page.keyboard.press("a");
      await untilStatus(page, "a", "Needs you");
      await page.keyboard.press("g");
      await page.keyboard.press("i");
      await page.getByText("Which colour?").waitFor();
      await page.keyboard.press("r");
      await page.keyboard.type("Green");
      await page.keyboard.press("Control+Enter");
      await page.getByRole("heading", { name: "Nothing waits for you" }).waitFor();

      await command(page, "it green");
      await page.getByRole("heading", { name: "Success" }).waitFor();
      await command(page, "its changes");
      await page.locator(".diff-line.is-added", { hasText: "green" }).waitFor();
      await tabTo(page, "Merge");
      await page.keyboard.press("c");
      const run = stage.engine.list().find((each) => each.id !== id)!;
      await page.getByText(`Copied: tutti merge ${run.id}`).waitFor();
      expect(await page.evaluate("navigator.clipboard.readText()")).toBe(`tutti merge ${run.id}`);
      await page.keyboard.press("Enter");
      await page.keyboard.press("Shift+Tab");
      await page.keyboard.press("Enter");
      await page.getByText(/^Merged into /).waitFor();
      expect(stage.lab.git("show", "HEAD:a.md")).toBe("green");
      // The next run has an estimate from this one.
      await page.keyboard.press("g");
      await page.keyboard.press("n");
      await page.getByText(/^\$0\.00 and .*s, the average of 1 run$/).waitFor();
    }),
  );

  test(
    "goes on after its server was killed and started again",
    onStage(async (stage) => {
      const lab = new Lab();
      try {
        const first = await serve(lab, "0");
        const token = readFileSync(join(lab.data, "token"), "utf8").trim();
        const client = createClient({ baseUrl: first.url, token });
        const agent = lab.scenario([...mainSession([{ id: "a" }]), goodWorker]);
        const { orchestratorId: id } = await client.create({
          templateId: "documentation",
          cwd: lab.repo,
          message: "Write a page",
          agent,
          autoStart: true,
        });
        const page = await stage.page();
        await page.goto(`${first.url}/?token=${token}#/runs/${id}`);
        await page.getByRole("heading", { name: "Confirm this plan of 1 task?" }).waitFor();
        first.child.kill("SIGKILL");
        await first.ended;
        await page.getByText("Reconnecting").waitFor();
        await page.getByLabel("Request changes").fill("Rather not");
        const second = await serve(lab, new URL(first.url).port);
        await page.getByText("Live", { exact: true }).waitFor();
        expect(await page.getByLabel("Request changes").inputValue()).toBe("Rather not");
        await page.getByRole("button", { name: "Confirm plan" }).click();
        // A run that ends in another way, or a refused order, is in the message of this assertion.
        const state = async () => [(await client.get(id)).status, await page.getByRole("alert").allInnerTexts()];
        await expect.poll(async () => String(await state())).toMatch(/^completed/);
        await page.getByRole("heading", { name: "Success" }).waitFor();
        second.child.kill("SIGTERM");
        await second.ended;
      } finally {
        lab.tearDown();
      }
      // The page shows another server than that of the stage, and requests fail in several ways when it is killed.
    }, /127\.0\.0\.1|net::ERR_|WebSocket connection/),
  );

  test(
    "shows both sides of a conflict",
    onStage(async (stage) => {
      const writes = (task: string) =>
        worker(task, { write: write("shared.md", `# From ${task}`), block: done({ summary: "wrote it" }) });
      const { id } = await stage.begin(
        [...mainSession([{ id: "a" }, { id: "b" }]), writes("a"), writes("b")],
        "Write it",
        {
          config: { autoSpawn: true },
        },
      );
      await stage.engine.until(id, ({ released }) => released);
      const page = await stage.page(`/runs/${id}`);
      const conflict = page.locator(".result li", { hasText: /shared\.md\s*between (?:a and b|b and a)/ });
      await conflict.waitFor();
      for (const task of ["a", "b"]) {
        await conflict.getByRole("link", { name: task, exact: true }).click();
        await expect
          .poll(() => page.locator(".diff-line.is-added").allInnerTexts())
          .toEqual([expect.stringContaining(`# From ${task}`)]);
      }
      // Side by side in a wide window, below each other in a narrow one.
      await conflict.getByRole("link", { name: "side by side" }).click();
      const sides = ["a", "b"].map((task) => page.getByRole("region", { name: `Changes of ${task}`, exact: true }));
      for (const [index, side] of sides.entries()) {
        await side.getByText(`# From ${["a", "b"][index]}`).waitFor();
        expect(await side.locator(".diff-line.is-added").count()).toBe(1);
      }
      const boxes = async () => Promise.all(sides.map((side) => side.boundingBox()));
      // The page may scroll to the changes between both boxes.
      await expect
        .poll(async () => {
          const [a, b] = await boxes();
          return [a!.y === b!.y, a!.x + a!.width <= b!.x || b!.x + b!.width <= a!.x];
        })
        .toEqual([true, true]);
      expect(await violations(page)).toEqual([]);
      await page.setViewportSize({ width: 800, height: 800 });
      await expect
        .poll(async () => {
          const [upper, lower] = await boxes();
          return upper!.x === lower!.x && upper!.y !== lower!.y;
        })
        .toBe(true);
      // Comments on both sides are one rework request.
      await page.setViewportSize({ width: 1280, height: 800 });
      for (const [index, side] of sides.entries()) {
        await side.getByRole("button", { name: "Comment on line 1" }).first().click();
        await side.getByLabel("Rework about shared.md:1").fill(`Note ${index}`);
        await side.getByRole("button", { name: "Add to the rework request" }).click();
      }
      await page.getByRole("heading", { name: "Rework request with 2 comments" }).waitFor();
    }),
  );
});
