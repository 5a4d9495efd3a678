// A user who reviews plans and changes in a real browser while the run goes on.
import type { Locator } from "playwright-core";
import { describe, expect, test } from "vitest";
import { withBrowser } from "./with-browser.ts";
import { done, goodWorker, mainSession, worker } from "../lab/scenarios.ts";

const onStage = withBrowser();

describe("A reviewer", () => {
  test(
    "rewires a plan into a circle and out of it, which is no edit any more, and requests changes with Ctrl+Enter",
    onStage(async (stage) => {
      const tasks = [{ id: "a" }, { id: "b", dependencies: ["a"] }, { id: "c", dependencies: ["b"] }];
      const { id } = await stage.begin([...mainSession(tasks), goodWorker], "Write three pages");
      await stage.until(id, "confirming");
      const page = await stage.page(`/runs/${id}`);
      await page.getByRole("button", { name: "Edit b" }).click();
      const onC = page.getByRole("group", { name: "Dependencies of b" }).getByLabel("c");
      await onC.check();
      await page.getByText("b, c depend on each other.").waitFor();
      expect(await page.getByRole("button", { name: "Confirm plan" }).isDisabled()).toBe(true);
      await onC.uncheck();
      await page.getByText("b, c depend on each other.").waitFor({ state: "detached" });
      await page.locator(".evidence > div", { hasText: "Longest chain" }).getByText("a → b → c").waitFor();

      await page.getByRole("button", { name: "Undo my edits" }).waitFor({ state: "detached" });

      const asked = Object.keys(stage.engine.get(id)!.inbox)[0]!;
      await page.getByLabel("Request changes").fill("Without c");
      await page.keyboard.press("Control+Enter");
      // The main session plans again at once, so the inbox is empty for a moment only.
      await stage.engine.until(id, ({ inbox }) => !(asked in inbox));
      await page.getByText("A new plan was requested: Without c").waitFor();
      // Edits are reported as lost once the page has read the inbox again, which then has the new plan.
      const { inbox } = await stage.engine.until(id, (run) => Object.keys(run.inbox).some((item) => item !== asked));
      await page.getByRole("link", { name: "Inbox" }).click();
      await page.locator(`[data-item="${Object.keys(inbox)[0]}"]`).waitFor();
      expect(await page.getByText("Your edits of the plan were not applied.").count()).toBe(0);
    }),
  );

  test(
    "comments on the line that was chosen although the file changes meanwhile, and sends it with Ctrl+Enter",
    onStage(async (stage) => {
      const gate = stage.lab.gate();
      const writes = (text: string, more = {}) => ({ ...more, write: { "docs/page.md": text }, block: done({}) });
      const sessions = [
        ...mainSession([{ id: "a" }, { id: "b", dependencies: ["a"] }, { id: "c" }]),
        worker("a", writes("one\ntwo\n")),
        worker("b", writes("zero\none\ntwo\n", { waitForFile: gate.file })),
        worker("c", { say: "hm", then: "hang" }),
      ];
      const { id } = await stage.begin(sessions, "Write a page", { config: { autoSpawn: true } });
      await stage.engine.until(id, ({ workers }) => workers["a"]?.merged === "merged");
      const page = await stage.page(`/runs/${id}?tab=changes`);
      await page.getByRole("button", { name: "Comment on line 2" }).click();
      await page.getByLabel("Message to the main session about docs/page.md:2").fill("Shorter");
      // A comment on another line keeps the unsent one.
      await page.getByRole("button", { name: "Comment on line 1" }).click();
      await page.getByLabel("Message to the main session about docs/page.md:1").fill("Longer");
      await page.getByLabel("Message to the main session about docs/page.md:2").focus();
      const newer = page.waitForResponse(
        async (response) => response.url().endsWith("/diff") && (await response.text()).includes("zero"),
      );
      gate.open();
      await newer;
      await page.evaluate("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))");
      await page.keyboard.press("Control+Enter");
      await expect
        .poll(() => stage.engine.get(id)!.messages.map(({ text }) => text))
        .toEqual(["About docs/page.md:2:\n> two\nShorter"]);
      // The engine has the message before the page has the answer that closes the comment.
      await page.getByLabel("Message to the main session about docs/page.md:2").waitFor({ state: "detached" });
      expect(await page.getByLabel("Message to the main session about docs/page.md:1").inputValue()).toBe("Longer");
      await page.getByRole("button", { name: "Close" }).click();
      // Without comments, the file is the newest one.
      await page.locator(".diff-line", { hasText: "zero" }).waitFor();
    }),
  );

  test(
    "sees no changes of another task below the name of one that has none",
    onStage(async (stage) => {
      const sessions = [
        ...mainSession([{ id: "a" }, { id: "b" }]),
        worker("a", { write: { "docs/a.md": "a\n" }, block: done({}) }),
        worker("b", { say: "hm", then: "hang" }),
      ];
      const { id } = await stage.begin(sessions, "Write two pages", { config: { autoSpawn: true } });
      await stage.engine.until(
        id,
        ({ workers }) => workers["a"]?.merged === "merged" && workers["b"]?.session.turn != null,
      );
      const page = await stage.page(`/runs/${id}?tab=changes`);
      await page.locator(".file-diff").waitFor();
      await page.getByLabel("Of which task").selectOption("b");
      await page.getByText("Its work has not been saved yet.").waitFor();
      expect(await page.locator(".file-diff").count()).toBe(0);
    }, /status of 409/),
  );

  test(
    "follows a link of the result to both sides of a conflict, which come into view",
    onStage(async (stage) => {
      const writes = (task: string) => worker(task, { write: { "shared.md": `# From ${task}\n` }, block: done({}) });
      const sessions = [...mainSession([{ id: "a" }, { id: "b" }]), writes("a"), writes("b")];
      const { id } = await stage.begin(sessions, "Write it", { config: { autoSpawn: true } });
      await stage.engine.until(id, ({ released }) => released);
      const page = await stage.page(`/runs/${id}`, { viewport: { width: 1280, height: 600 } });
      const sides = page.locator(".changes-sides .file-diff");
      await page.getByRole("link", { name: "side by side" }).click();
      await sides.nth(1).waitFor();
      const isInView = async (side: Locator) => {
        const { y, height } = (await side.boundingBox())!;
        return y >= 0 && y + height <= 600;
      };
      await expect.poll(async () => Promise.all((await sides.all()).map(isInView))).toEqual([true, true]);
    }),
  );

  test(
    "keeps the form of a new run over a reload until the run exists",
    onStage(async (stage) => {
      const sessions = [...mainSession([{ id: "a" }]), worker("a", { say: "hm", then: "hang" })];
      const { id } = await stage.begin(sessions, "Write a page", { start: false, config: { autoSpawn: true } });
      const page = await stage.page(`/runs/new?from=${id}`);
      const request = page.getByLabel("Request");
      await expect.poll(() => request.inputValue()).toBe("Write a page");
      await request.fill("Write two pages");
      await page.getByLabel("Most workers").fill("2");
      await page.reload();
      await expect.poll(() => request.inputValue()).toBe("Write two pages");
      expect(await page.getByLabel("Most workers").inputValue()).toBe("2");
      // Another source has a form of its own.
      await page.goto(`${stage.url}/runs/new`);
      await expect.poll(() => page.getByLabel("Folder", { exact: true }).inputValue()).toBe(stage.lab.repo);
      expect(await request.inputValue()).toBe("");
      await page.goto(`${stage.url}/runs/new?from=${id}`);
      await page.getByRole("button", { name: "Start run" }).click();
      await page.getByRole("heading", { name: "Write two pages" }).waitFor();
      await page.goto(`${stage.url}/runs/new?from=${id}`);
      await expect.poll(() => request.inputValue()).toBe("Write a page");
    }),
  );

  test(
    "has a form of a new run for each source, whose folder stays when another run starts elsewhere",
    onStage(async (stage) => {
      const { id } = await stage.begin(mainSession([{ id: "a" }]), "Write a page");
      await stage.until(id, "confirming");
      const page = await stage.page("/runs/new");
      const request = page.getByLabel("Request");
      const folder = page.getByLabel("Folder", { exact: true });
      await request.fill("My own words");
      await expect.poll(() => folder.inputValue()).toBe(stage.lab.repo);
      const other = await stage.begin(mainSession([{ id: "a" }]), "Elsewhere", { folder: "other" });
      await stage.until(other.id, "confirming");
      await page.locator(".rail-count", { hasText: "2" }).waitFor();
      expect(await folder.inputValue()).toBe(stage.lab.repo);

      await page.evaluate(
        `history.pushState(null, "", "/runs/new?from=${id}"); dispatchEvent(new PopStateEvent("popstate"))`,
      );
      await expect.poll(() => request.inputValue()).toBe("Write a page");
      await page.goBack();
      await expect.poll(() => request.inputValue()).toBe("My own words");
    }),
  );

  test(
    "starts a run and copies commands over plain HTTP, where the browser has fewer functions",
    onStage(async (stage) => {
      const page = await stage.page("/");
      // Browsers trust the address of this server, so the page looks like one of another machine.
      await page.addInitScript(`
        Object.defineProperty(window, "isSecureContext", { value: false });
        Object.defineProperty(Navigator.prototype, "clipboard", { get: () => undefined });
        delete Crypto.prototype.randomUUID;
      `);
      const sessions = [...mainSession([{ id: "a" }]), worker("a", { say: "hm", then: "hang" })];
      const { id } = await stage.begin(sessions, "Write a page", { start: false, config: { autoSpawn: true } });
      await page.goto(`${stage.url}/runs/new?from=${id}`);
      await page.getByRole("button", { name: "Start run" }).click();
      await page.waitForURL(/\/runs\/orch_/);
      const run = stage.engine.list().find((each) => each.id !== id)!;
      const pause = page.getByRole("button", { name: "Pause", exact: true });
      await pause.click({ modifiers: ["Alt"] });
      await page.getByText(`Copied: tutti pause ${run.id}`).waitFor();
      expect(stage.engine.get(run.id)!.status).not.toBe("paused");

      await page.keyboard.press("Control+k");
      const field = page.getByRole("combobox");
      await field.fill("tutti cancel");
      await page.getByRole("button", { name: "Copy as command" }).click();
      await page.getByText("Copied.", { exact: true }).waitFor();
      await field.fill("");
      await page.keyboard.press("Control+v");
      await expect.poll(() => field.inputValue()).toBe(`tutti cancel ${run.id}`);
    }),
  );
});
