// Checks every view in both themes, wide and narrow, with axe-core. `TUTTI_SCREENSHOTS` names a folder that receives a
// screenshot of each view; `TUTTI_UPDATE_PICTURES=1` renews the picture of the README, and `TUTTI_UPDATE_PARTS=1` the
// stored styles of the parts and the stored pictures.
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Page } from "playwright-core";
import { describe, expect, test } from "vitest";
import { violations } from "./axe.ts";
import { DEGRADED, FINISHED, HALFWAY, REQUEST } from "./showcase.ts";
import { boxedPicture, differentShare, packPicture, WITHOUT_FONTS } from "./compare-pictures.ts";
import type { Stage } from "./stage.ts";
import { withBrowser } from "./with-browser.ts";
import { mainSession, worker } from "../lab/scenarios.ts";
import { openTokens } from "../../src/main/settings.ts";
import type { Run } from "../../src/schema/run.ts";

const PICTURE = join(import.meta.dirname, "../../../../docs/images/dashboard.png");
const PICTURES = join(import.meta.dirname, "pictures");
/** The share of pixels of a picture that may differ from the stored one. */
const MOST_DIFFERENT = 0.0003;
/** The same for pictures of views, which have half the size. */
const MOST_MOVED = 0.002;
const PARTS = join(import.meta.dirname, "part-styles.json");
const screenshotFolder = process.env["TUTTI_SCREENSHOTS"];

async function saveScreenshot(page: Page, name: string): Promise<void> {
  if (!screenshotFolder) return;
  mkdirSync(screenshotFolder, { recursive: true });
  await page.screenshot({ animations: "disabled", path: join(screenshotFolder, `${name}.png`) });
}

/** The elements that make the page wider than the window. */
const TOO_WIDE = `(document.documentElement.scrollWidth <= innerWidth ? [] :
  [...document.querySelectorAll("main *")].filter((e) => e.getBoundingClientRect().right > innerWidth)
    .map((e) => e.tagName + "." + e.className).slice(0, 8))`;

/** Elements below the content, which leave an empty part at the end of the page. */
const TOO_TALL = `(() => {
  const end = document.querySelector("main").getBoundingClientRect().bottom + 1;
  return document.documentElement.scrollHeight <= Math.max(innerHeight, end + scrollY + 60) ? [] :
    [...document.querySelectorAll("main *")].filter((e) => e.getBoundingClientRect().top > end)
      .map((e) => e.tagName + "." + e.className).slice(0, 8);
})()`;

/**
 * Names and marks of the phases and parts of the top bar that overlap each other or leave the window, percentages that
 * wrap or are cut off, first lines of tasks that are too wide, names of places that are cut off, short texts of tables
 * that are broken into many lines, and heads of cards and fields for sentences that are squeezed beside others.
 */
const MISPLACED = `(() => {
  const seen = (selector) => [...document.querySelectorAll(selector)]
    .map((e) => ({ e, box: e.getBoundingClientRect() })).filter(({ box }) => box.width > 2);
  const overlap = (a, b) => a.left < b.right - 1 && b.left < a.right - 1 && a.top < b.bottom - 1 && b.top < a.bottom - 1;
  // The page scrolls below the top bar, so the parts of both are compared among themselves.
  const steps = [".step-mark, .step-name, .step-note", ".top-bar > :not(.push)"].map(seen).flatMap((parts) =>
    parts.filter(({ e, box }) => box.left < 0 || box.right > innerWidth
      || parts.some((other) => other.e !== e && overlap(box, other.box))));
  const percents = seen(".task-node-percent, .worker-card .push").filter(({ e, box }) => {
    const outer = e.parentElement.getBoundingClientRect();
    return e.getClientRects().length > 1 || box.height > 24 || box.right > outer.right + 1 || box.left < outer.left;
  });
  const tops = seen(".task-node-top").filter(({ e }) => e.scrollWidth > e.clientWidth + 1);
  const places = seen(".rail-place.is-here > span").filter(({ e, box }) => {
    const outer = e.parentElement.getBoundingClientRect();
    return e.scrollWidth > e.clientWidth + 1 || box.left < outer.left || box.right > outer.right;
  });
  const cells = seen(".task-table td, .cost-rows :is(td, th)")
    .filter(({ e, box }) => e.textContent.length < 60 && box.height > 84);
  const squeezed = seen(".plan-head > div:nth-child(2), main textarea").filter(({ box }) => box.width < 200);
  return [...steps, ...percents, ...tops, ...places, ...cells, ...squeezed].map(({ e }) => e.className + " " + e.textContent);
})()`;

/** Pixels that the nodes of a graph leave empty in both directions, although they are drawn smaller than they are. */
const WASTED = `(() => {
  const frame = document.querySelector(".graph")?.getBoundingClientRect();
  const boxes = [...document.querySelectorAll(".graph .task-node")].map((e) => e.getBoundingClientRect());
  if (frame === undefined || boxes.length === 0) return 0;
  const zoom = boxes[0].width / document.querySelector(".graph .task-node").offsetWidth;
  const extent = (low, high) => Math.max(...boxes.map((box) => box[high])) - Math.min(...boxes.map((box) => box[low]));
  const unused = Math.min(frame.width - extent("left", "right"), frame.height - extent("top", "bottom"));
  return zoom > 0.99 ? 0 : Math.max(0, Math.round(unused - 72));
})()`;

/** The tasks of a graph that are below its buttons. */
const COVERED = `(() => {
  const boxOf = (e) => e.getBoundingClientRect();
  const buttons = [...document.querySelectorAll(".graph-buttons")].map(boxOf);
  return [...document.querySelectorAll(".graph .task-node")].filter((e) => buttons.some((each) =>
    boxOf(e).bottom > each.top + 1 && boxOf(e).right > each.left + 1)).map((e) => e.dataset.task);
})()`;

const WIDTHS = [1280, 360, 768, 1920];

/**
 * The styles of each part in both themes, without those that depend on the fonts of the machine. An element is named by
 * its theme, its tag and its classes.
 */
const PART_STYLES = `(() => {
  const names = ["color", "background-color", "border-top-color", "border-top-width", "border-radius", "padding", "gap",
    "font-size", "font-weight", "text-transform", "min-height", "box-shadow", "opacity", "display", "position"];
  const rounded = (text) => text.replace(/\\d+\\.\\d{3,}/g, (number) => Number(number).toFixed(2));
  return Object.fromEntries([...document.querySelectorAll(".parts-theme")].flatMap((theme) =>
    [...theme.querySelectorAll("[class]:not(svg, svg *)")].map((e) => [
      theme.className.replace("parts-theme is-", "") + " " + e.tagName.toLowerCase() + "." + e.className
        + (e.disabled ? ":disabled" : ""),
      names.map((name) => name + ": " + rounded(getComputedStyle(e).getPropertyValue(name))).join("; "),
    ]).reverse()));
})()`;

/** All styles at the first width; at the others only those that differ. */
async function partStyles(page: Page): Promise<Record<string, Record<string, string>>> {
  const found: Record<string, Record<string, string>> = {};
  const first: Record<string, string> = {};
  for (const width of WIDTHS) {
    await page.setViewportSize({ width, height: 800 });
    const styles = (await page.evaluate(PART_STYLES)) as Record<string, string>;
    found[width] = Object.fromEntries(Object.entries(styles).filter(([name, style]) => first[name] !== style));
    if (width === WIDTHS[0]) Object.assign(first, styles);
  }
  return found;
}

const background = (page: Page): Promise<unknown> => page.evaluate("getComputedStyle(document.body).backgroundColor");

async function confirmAndWait(stage: Stage, sessions: object[], condition: (run: Run) => boolean): Promise<Run> {
  const { id } = await stage.begin(sessions, REQUEST, { folder: "billing-service" });
  await stage.until(id, "confirming");
  await stage.engine.order(id, "confirm");
  return stage.engine.until(id, condition);
}

const isHalfway = (run: Run): boolean =>
  Object.values(run.workers).filter(({ currentAction }) => currentAction !== null).length === 3;

/** Hosts, schedules and tokens, for the screenshots of their views. */
async function fillPlaces(stage: Stage): Promise<void> {
  const host = { capacity: 4, version: "0.1.0", agents: ["local", "claude"], seenAt: new Date().toISOString() };
  const labels = { gpu: "a100", zone: "eu-west" };
  stage.hosts.push(
    { ...host, id: "h1", name: "gpu-1", labels, state: "ready", sessions: 3, tasks: ["http-api", "invoices"] },
    { ...host, id: "h2", name: "spare", labels: {}, state: "draining", sessions: 1, tasks: ["storage"] },
    { ...host, id: "h3", name: "old", labels: {}, state: "lost", sessions: 0, tasks: [], seenAt: null },
  );
  const schedule = { cron: "0 3 * * *", template: "documentation", cwd: stage.lab.repo, message: "Every night" };
  const config = { schedules: { nightly: schedule, broken: { ...schedule, enabled: false } } };
  writeFileSync(join(stage.lab.data, "tutti.config.json"), JSON.stringify(config));
  openTokens(stage.lab.data).create({ name: "wall-screen", role: "view" });
  openTokens(stage.lab.data).create({ name: "release-bot", role: "operate", expiresInDays: 30 });
}

/** Creates one run in each visually distinct state and returns the paths of the views. */
async function views(stage: Stage): Promise<[string, string][]> {
  const plan = await stage.begin(FINISHED, REQUEST);
  await stage.until(plan.id, "confirming");
  const finished = await confirmAndWait(stage, FINISHED, ({ status }) => status === "completed");
  const degraded = await confirmAndWait(stage, DEGRADED, ({ status }) => status === "completed");
  const asking = await confirmAndWait(
    stage,
    [...mainSession([{ id: "a" }]), worker("a", { then: "ask:PostgreSQL or SQLite?" })],
    ({ inbox }) => Object.keys(inbox).length > 0,
  );
  const halfway = await confirmAndWait(stage, HALFWAY, isHalfway);
  if (screenshotFolder) await fillPlaces(stage);
  return [
    ["inbox", "/"],
    ["list", "/runs"],
    ["new-run", "/runs/new"],
    ["costs", "/costs"],
    ["parts", "/parts"],
    ["changes", `/runs/${finished.id}?tab=changes`],
    ["plan", `/runs/${plan.id}`],
    ["question", `/runs/${asking.id}`],
    ["working", `/runs/${halfway.id}`],
    ["table", `/runs/${halfway.id}?view=table`],
    ["transcript", `/runs/${halfway.id}?session=invoices`],
    ["finished", `/runs/${finished.id}`],
    ["degraded", `/runs/${degraded.id}`],
    // Other tests check these with axe-core, so they only need to be looked at.
    ...(screenshotFolder
      ? ([
          ["checks", `/runs/${degraded.id}?tab=checks&session=payments&part=attempts`],
          ["plan-tab", `/runs/${halfway.id}?tab=plan`],
          ["cost-tab", `/runs/${finished.id}?tab=cost&session=invoices&part=changes`],
          ["timeline", `/runs/${degraded.id}?tab=log&session=invoices&part=checks`],
          ["templates", "/templates?id=refactoring"],
          ["schedules", "/schedules"],
          ["machine", "/machine"],
          ["hosts", "/hosts"],
        ] satisfies [string, string][])
      : []),
  ];
}

/** The left edges of the titles of pages by the width of the window. */
const titleEdges: Record<string, Set<number>> = {};

async function expectFits(page: Page, view: string): Promise<void> {
  const title = page.locator(".page-title h1");
  if ((await title.count()) > 0)
    (titleEdges[page.viewportSize()!.width] ??= new Set()).add((await title.boundingBox())!.x);
  expect(await page.evaluate(`[...${TOO_WIDE}, ...${TOO_TALL}, ...${MISPLACED}]`), view).toEqual([]);
}

/** Views whose content is the same in every run of the tests. */
const STORED_VIEWS = ["inbox", "list", "new-run", "changes", "plan", "working", "table", "transcript"];

async function comparePicture(page: Page, view: string, width: number): Promise<void> {
  if (!STORED_VIEWS.includes(view)) return;
  const file = join(PICTURES, `${view}-${width}.webp`);
  if (process.env["TUTTI_UPDATE_PARTS"] === "1") {
    await page.waitForTimeout(1000);
    const pictures = [await boxedPicture(page), await boxedPicture(page)];
    while (!pictures.at(-1)!.equals(pictures.at(-2)!)) pictures.push(await boxedPicture(page));
    writeFileSync(file, pictures.at(-1)!);
  }
  const stored = readFileSync(file);
  const share = async (): Promise<number> => {
    const picture = await boxedPicture(page);
    // The same browser packs the same pixels into the same bytes.
    return picture.equals(stored) ? 0 : differentShare(page, picture, stored);
  };
  // The graph fits its new frame some time after a change of the width.
  await expect.poll(share, { message: `${view} at ${width} px` }).toBeLessThan(MOST_MOVED);
}

async function checkView(page: Page, name: string, path: string): Promise<void> {
  await page.setViewportSize({ width: 1280, height: 800 });
  await page.emulateMedia({ colorScheme: "light" });
  await page.goto(new URL(path, page.url()).href);
  await page.getByText("Live", { exact: true }).waitFor();
  await page.locator("main h1").waitFor();
  if (name === "table") await page.locator("[data-row]").first().waitFor();
  else if (path.startsWith("/runs/orch") && !path.includes("tab=")) await page.locator(".task-node").first().waitFor();
  if (name === "transcript") await page.getByText("Prompt 1").waitFor();
  if (name === "inbox") await page.getByRole("button", { name: "Confirm plan" }).waitFor();
  if (name === "checks") await page.getByRole("list", { name: "Attempts" }).getByText("Attempt 1").waitFor();
  if (name === "changes") await page.locator(".file-diff").first().waitFor();
  if (name === "new-run")
    await page.locator("option", { hasText: "local (ready)" }).first().waitFor({ state: "attached" });
  await saveScreenshot(page, `${name}-light`);
  await expectFits(page, `${name} light`);
  const light = await background(page);
  expect(await violations(page), `${name} light`).toEqual([]);
  await page.emulateMedia({ colorScheme: "dark" });
  await saveScreenshot(page, `${name}-dark`);
  expect(await background(page), `${name} light and dark`).not.toBe(light);
  // Only colours differ between the themes, so one rule is enough.
  expect(await violations(page, ["color-contrast"]), `${name} dark`).toEqual([]);
  await expectFits(page, `${name} dark`);
  await comparePicture(page, name, 1280);
  // Each width begins with the theme of the one before, because a change of the theme renders the whole page again.
  let colorScheme: "dark" | "light" = "dark";
  for (const width of [1920, 800, 360]) {
    await page.setViewportSize({ width, height: 800 });
    for (const isOther of [false, true]) {
      if (isOther) {
        colorScheme = colorScheme === "dark" ? "light" : "dark";
        await page.emulateMedia({ colorScheme });
      }
      await expectFits(page, `${name} ${colorScheme} ${width}`);
      await expect.poll(() => page.evaluate(WASTED), { message: `graph of ${name} at ${width} px` }).toBe(0);
      await expect.poll(() => page.evaluate(COVERED), { message: `graph of ${name} at ${width} px` }).toEqual([]);
      await saveScreenshot(page, `${name}-${colorScheme}-${width}`);
    }
    await comparePicture(page, name, width);
  }
}

/** One page visits many views: a new page would start a process and compile the scripts and axe-core again. */
async function checkViews(stage: Stage, paths: [string, string][]): Promise<void> {
  const page = await stage.page("/", { colorScheme: "light" });
  // Otherwise runs in the pictures become older, and finally stalled.
  await page.clock.setFixedTime(Date.now());
  for (const [name, path] of paths) await checkView(page, name, path);
}

describe("The page", () => {
  const onStage = withBrowser();

  test(
    "passes axe-core and fits the window in both themes, wide and narrow",
    onStage(async (stage) => {
      const empty = await stage.page();
      await empty.getByRole("heading", { name: "Nothing waits for you" }).waitFor();
      expect(await violations(empty)).toEqual([]);
      await saveScreenshot(empty, "empty");
      const all = await views(stage);
      const half = Math.ceil(all.length / 2);
      await Promise.all([checkViews(stage, all.slice(0, half)), checkViews(stage, all.slice(half))]);
      expect(Object.values(titleEdges).map(({ size }) => size)).toEqual(WIDTHS.map(() => 1));
    }),
  );

  test(
    "has the stored styles of its parts, and keeps the chosen theme after a reload",
    onStage(async (stage) => {
      const page = await stage.page("/", { colorScheme: "light" });
      const light = await background(page);
      await page.getByRole("button", { name: "Switch to the dark theme" }).click();
      const dark = await background(page);
      expect(dark).not.toBe(light);
      await page.reload();
      await page.getByRole("button", { name: "Switch to the light theme" }).waitFor();
      expect(await background(page)).toBe(dark);

      await page.goto(`${stage.url}/parts`);
      await page.locator(".parts-theme").nth(1).waitFor();
      const styles = await partStyles(page);
      if (process.env["TUTTI_UPDATE_PARTS"] === "1") writeFileSync(PARTS, `${JSON.stringify(styles, null, 2)}\n`);
      expect(styles).toEqual(JSON.parse(readFileSync(PARTS, "utf8")));

      await page.evaluate(WITHOUT_FONTS);
      for (const width of WIDTHS) {
        await page.setViewportSize({ width, height: 800 });
        const picture = await packPicture(page, await page.locator("main").screenshot({ animations: "disabled" }));
        const file = join(PICTURES, `parts-${width}.webp`);
        if (process.env["TUTTI_UPDATE_PARTS"] === "1") writeFileSync(file, picture);
        expect(await differentShare(page, picture, readFileSync(file)), `parts at ${width} px`).toBeLessThan(
          MOST_DIFFERENT,
        );
      }
    }),
  );

  test(
    "speaks the language of the browser, or the one that the user chose",
    onStage(async (stage) => {
      const plan = await stage.begin(FINISHED, REQUEST);
      await stage.until(plan.id, "confirming");
      const page = await stage.page(`/runs/${plan.id}`, { locale: "fr-CA", viewport: { width: 360, height: 800 } });
      await page.getByRole("heading", { name: "Confirmer ce plan de 8 tâches" }).waitFor();
      await page.getByText("En direct", { exact: true }).waitFor();
      await page.getByText("Plus longue chaîne").waitFor();
      await page.getByLabel("webhooks après payments").waitFor({ state: "attached" });
      expect(await page.getByText("Press enter or space").count()).toBe(0);
      await page.getByRole("list", { name: "Événements récents" }).getByText("Le plan est prêt : 8 tâches").waitFor();
      expect(await page.getAttribute("html", "lang")).toBe("fr");
      expect(await page.evaluate("document.documentElement.scrollWidth <= innerWidth")).toBe(true);
      await saveScreenshot(page, "french-360");
      await page.setViewportSize({ width: 1280, height: 800 });
      await saveScreenshot(page, "french");
      expect(await violations(page)).toEqual([]);

      await page.goto(stage.url);
      await page.getByText("Exécuter ce plan de 8 tâches ?").waitFor();
      await page.goto(`${stage.url}/runs/${plan.id}`);
      await page.getByRole("heading", { name: "Confirmer ce plan de 8 tâches" }).waitFor();

      await page.getByRole("button", { name: "Show in English" }).click();
      await page.getByRole("heading", { name: "Confirm this plan of 8 tasks?" }).waitFor();
      // English needs no catalogue.
      const french: string[] = [];
      page.on("request", (request) => void (/french/.test(request.url()) && french.push(request.url())));
      await page.reload();
      await page.getByRole("heading", { name: "Confirm this plan of 8 tasks?" }).waitFor();
      expect(await page.getAttribute("html", "lang")).toBe("en");
      expect(french).toEqual([]);
      await page.getByRole("button", { name: "Afficher en français" }).click();
      await page.getByRole("button", { name: "Confirmer le plan" }).waitFor();

      // Sentences of the log are French, words of agents are not.
      const fails = { block: { phase: "completion", data: { task_id: "a", status: "failed", error: "no luck" } } };
      const failed = await stage.begin([...mainSession([{ id: "a" }]), worker("a", fails)], REQUEST, {
        config: { autoSpawn: true },
      });
      await stage.engine.until(failed.id, ({ released }) => released);
      await page.goto(`${stage.url}/runs/${failed.id}`);
      await page.getByText("Non terminé : 1 tâche").waitFor();
      await page.getByRole("button", { name: "Réessayer" }).waitFor();
      await page.getByText("a a échoué : no luck", { exact: true }).waitFor();

      // A part of the plan is counted in the singular, and the palette finds words of the command line.
      await page.getByText("0 terminée", { exact: true }).waitFor();
      await page.getByText("1 échouée", { exact: true }).waitFor();
      await page.goto(`${stage.url}/runs/${plan.id}`);
      await page.getByRole("button", { name: "Confirmer le plan" }).waitFor();
      await page.keyboard.press("Control+k");
      await page.getByRole("combobox").fill("tutti pause");
      await page.getByRole("option", { name: "Suspendre cette exécution" }).waitFor();
      await page.keyboard.press("Escape");

      // French words are longer.
      await page.setViewportSize({ width: 360, height: 800 });
      const runs = [`/runs/${plan.id}`, `/runs/${failed.id}`];
      for (const path of ["/", "/runs", "/runs/new", "/costs", "/machine", "/templates?id=testing", ...runs]) {
        await page.goto(`${stage.url}${path}`);
        await page.locator("main h1").waitFor();
        await page.getByText("En direct", { exact: true }).waitFor();
        if (path === "/runs") await page.locator(".run-row").nth(1).waitFor();
        if (path === "/machine") await page.getByText("nécessaire seulement").waitFor();
        if (path.startsWith("/templates")) await page.getByText("N'ajoute que des tests").waitFor();
        await expectFits(page, `${path} in French`);
      }
      const { token } = openTokens(stage.lab.data).create({ name: "wall-screen", role: "view" });
      const viewer = await stage.page(runs[0], { token, locale: "fr-CA", viewport: { width: 360, height: 800 } });
      await viewer.getByText("Lecture seule").waitFor();
      await viewer.locator("main h1").waitFor();
      await expectFits(viewer, "the page of a viewer in French");
      await viewer.context().close();

      // An error has a sentence for its code, and the words of the server below.
      await page.goto(`${stage.url}/runs/orch_aaaaaaaaaaaa`);
      await page.getByRole("heading", { name: "L'exécution n'existe pas." }).waitFor();
      await page.getByText('Run "orch_aaaaaaaaaaaa" does not exist').waitFor();
      await page.context().clearCookies();
      await page.goto(stage.url);
      await page.getByRole("button", { name: "Se connecter" }).waitFor();
      expect(await page.getAttribute("html", "lang")).toBe("fr");
    }, /status of 40[14]/),
  );

  if (process.env["TUTTI_UPDATE_PICTURES"] === "1") {
    test(
      "is the picture of the README",
      onStage(async (stage) => {
        const run = await confirmAndWait(stage, HALFWAY, isHalfway);
        const page = await stage.page(`/runs/${run.id}`, { colorScheme: "light" });
        await page.getByText("Live", { exact: true }).waitFor();
        await page.getByText("Reading src/webhooks/deliver.ts").waitFor();
        await page.screenshot({ path: PICTURE, animations: "disabled" });
      }),
    );
  }
});
