// Pictures of a page that are the same on machines with other fonts: each word is a box, whose size follows from the font
// size alone.
import type { Page } from "playwright-core";

const BOX_WORDS = `const boxWords = (root) => {
  const walker = document.createTreeWalker(root, NodeFilter.SHOW_TEXT);
  const texts = [];
  while (walker.nextNode()) texts.push(walker.currentNode);
  for (const text of texts) {
    if (text.parentElement.closest("option, textarea, svg, .visually-hidden")) continue;
    const boxes = text.data.split(/\\s+/).filter((word) => word !== "").map((word) => {
      const box = document.createElement("span");
      box.style.cssText = "display:inline-block;vertical-align:top;height:0.8em;margin:0.2em 0.3em 0 0;" +
        "background:currentColor;width:" + word.length * 0.55 + "em";
      return box;
    });
    // One element, because every box of its own would be an item of a flex box or grid.
    const line = document.createElement("span");
    line.append(...boxes.flatMap((box) => [box, "\\u200b"]));
    if (boxes.length > 0) text.replaceWith(line);
  }
};
const addStyle = (text) => {
  const style = new CSSStyleSheet();
  style.replaceSync(text);
  document.adoptedStyleSheets.push(style);
};`;

/** Replaces the words of the page by boxes and hides those in fields. `vertical-align: top` ignores the font's metrics. */
export const WITHOUT_FONTS = `(() => {
  ${BOX_WORDS}
  boxWords(document.querySelector("main"));
  addStyle("main :is(input, textarea, select), main ::placeholder { color: transparent !important }"
    + " .top-bar, .rail { visibility: hidden }");
})()`;

const MOST_HEIGHT = 1200;

/**
 * Lays two copies of `main` with boxes over the page, a light one and a dark one below it. React keeps and updates `main`
 * itself. Durations and ages get one length, and lists in the order of events are hidden. Returns the frame of the copies.
 */
const SHOW_COPIES = `(() => {
  ${BOX_WORDS}
  if (!document.adoptedStyleSheets.some((sheet) => sheet.cssRules[0].selectorText === ".boxed-copy"))
    addStyle(".boxed-copy { position: absolute; z-index: 99; overflow: hidden; contain: layout paint;"
      + " background: var(--ground); color: var(--text) }"
      + " .boxed-copy * { text-overflow: clip !important; scrollbar-width: none !important; animation: none !important;"
      + " content-visibility: visible !important }"
      + " .boxed-copy ::marker, .boxed-copy ::placeholder, .boxed-copy :is(input, textarea, select) {"
      + " color: transparent !important }"
      + " .boxed-copy :is(select, input.is-short) { width: 12em !important }"
      + " .boxed-copy .activity { visibility: hidden }");
  const main = document.querySelector("main");
  const { width } = main.getBoundingClientRect();
  const boxed = main.cloneNode(true);
  const walker = document.createTreeWalker(boxed, NodeFilter.SHOW_TEXT);
  while (walker.nextNode())
    walker.currentNode.data = walker.currentNode.data
      .replace(/\\d+h \\d\\dm|\\d+m \\d\\ds|<?\\d+s/g, "0s").replace(/\\d+ min ago/g, "just now");
  boxWords(boxed);
  const add = (content, colorScheme, y) => {
    const copy = document.createElement("div");
    copy.className = "boxed-copy";
    copy.append(content);
    Object.assign(copy.style, { colorScheme, left: 0, top: y + "px", width: width + "px" });
    document.body.append(copy);
    return copy;
  };
  const light = add(boxed, "light", 0);
  // The picture is half as large, so an even edge keeps pixels of both themes apart.
  const even = (length) => 2 * Math.floor(length / 2);
  const height = even(Math.min(light.offsetHeight, ${MOST_HEIGHT}));
  for (const copy of [light, add(boxed.cloneNode(true), "dark", height)]) copy.style.height = height + "px";
  return { x: 0, y: 0, width: even(width), height: 2 * height };
})()`;

/** A small picture of the page in both themes, with boxes instead of words. */
export async function boxedPicture(page: Page): Promise<Buffer> {
  await page.evaluate("scrollTo(0, 0)");
  const frame = (await page.evaluate(SHOW_COPIES)) as { x: number; y: number; width: number; height: number };
  const session = await page.context().newCDPSession(page);
  const { data } = await session.send("Page.captureScreenshot", {
    format: "webp",
    quality: 60,
    clip: { ...frame, scale: 0.5 },
    captureBeyondViewport: true,
  });
  await session.detach();
  await page.evaluate(`for (const copy of document.querySelectorAll(".boxed-copy")) copy.remove()`);
  return Buffer.from(data, "base64");
}

const READ = `const read = async (type, data) => {
  const image = new Image();
  image.src = "data:image/" + type + ";base64," + data;
  await image.decode();
  const canvas = new OffscreenCanvas(image.width, image.height);
  canvas.getContext("2d").drawImage(image, 0, 0);
  return canvas;
};
const pixels = (canvas) => canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height).data;`;

/** Returns a small WebP. Its losses are the same for the same picture, so only packed pictures are compared. */
export async function packPicture(page: Page, png: Buffer): Promise<Buffer> {
  const packed = await page.evaluate(`(async () => {
    ${READ}
    const blob = await (await read("png", "${png.toString("base64")}")).convertToBlob({ type: "image/webp", quality: 0.7 });
    return (await blob.bytes()).toBase64();
  })()`);
  return Buffer.from(packed as string, "base64");
}

/** The share of pixels that differ visibly, or 1 for pictures of another size. Edges may differ a little. */
export const differentShare = (page: Page, picture: Buffer, stored: Buffer): Promise<number> =>
  page.evaluate(`(async () => {
    ${READ}
    const [one, other] = [await read("webp", "${picture.toString("base64")}"), await read("webp", "${stored.toString("base64")}")];
    if (one.width !== other.width || Math.abs(one.height - other.height) > 2) return 1;
    const [a, b] = [pixels(one), pixels(other)];
    const bytes = Math.min(a.length, b.length);
    let different = 0;
    for (let at = 0; at < bytes; at += 4)
      if ([0, 1, 2].some((part) => Math.abs(a[at + part] - b[at + part]) > 32)) different++;
    return different / (bytes / 4);
  })()`);
