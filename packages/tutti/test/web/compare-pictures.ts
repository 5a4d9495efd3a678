// Pictures of a page that are the same on machines with other fonts: each word is a box, whose size follows from the font
// size alone.
import type { Page } from "playwright-core";

/** Replaces the words of the page by boxes and hides those in fields. `vertical-align: top` ignores the font's metrics. */
export const WITHOUT_FONTS = `(() => {
  const walker = document.createTreeWalker(document.querySelector("main"), NodeFilter.SHOW_TEXT);
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
    text.replaceWith(...boxes.flatMap((box) => [box, "\\u200b"]));
  }
  const style = new CSSStyleSheet();
  style.replaceSync("main :is(input, textarea, select), main ::placeholder { color: transparent !important }"
    + " .top-bar, .rail { visibility: hidden }");
  document.adoptedStyleSheets.push(style);
})()`;

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
