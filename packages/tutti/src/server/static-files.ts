// Serves the built dashboard. Only files inside of `webRoot` are read.
import { readFile, realpath } from "node:fs/promises";
import { extname, join, sep } from "node:path";

const CONTENT_TYPES: Record<string, string> = {
  ".html": "text/html; charset=utf-8",
  ".js": "text/javascript; charset=utf-8",
  ".mjs": "text/javascript; charset=utf-8",
  ".css": "text/css; charset=utf-8",
  ".json": "application/json",
  ".map": "application/json",
  ".webmanifest": "application/manifest+json",
  ".svg": "image/svg+xml",
  ".png": "image/png",
  ".jpg": "image/jpeg",
  ".webp": "image/webp",
  ".ico": "image/x-icon",
  ".woff2": "font/woff2",
  ".txt": "text/plain; charset=utf-8",
  ".wasm": "application/wasm",
};

/** File names below `HASHED` contain a content hash. A missing one is a 404, not a page of the dashboard. */
const HASHED = "/assets/";

interface StaticFile {
  content: Buffer;
  headers: Record<string, string>;
}

/**
 * Falls back to `index.html`, with a script that routes on the client. `findStaticFile` returns null if neither file
 * exists. The build puts a gzip file beside each large file; a client that accepts `gzip` gets it.
 */
export async function findStaticFile(
  webRoot: string,
  pathname: string,
  accepted: string = "",
): Promise<StaticFile | null> {
  const file = await readInside(webRoot, pathname);
  if (file !== null) {
    const caching = pathname.startsWith(HASHED) ? "public, max-age=31536000, immutable" : "no-cache";
    const type = CONTENT_TYPES[extname(pathname).toLowerCase()] ?? "application/octet-stream";
    const headers = { "Content-Type": type, "Cache-Control": caching };
    const packed = await readInside(webRoot, `${pathname}.gz`);
    if (packed === null) return { content: file, headers };
    const vary = { ...headers, Vary: "Accept-Encoding" };
    if (!/\bgzip\b(?!\s*;\s*q=0(?:\.0*)?(?:,|$))/.test(accepted)) return { content: file, headers: vary };
    return { content: packed, headers: { ...vary, "Content-Encoding": "gzip" } };
  }
  const page = pathname.startsWith(HASHED) ? null : await readInside(webRoot, "/index.html");
  return page && { content: page, headers: { "Content-Type": CONTENT_TYPES[".html"]!, "Cache-Control": "no-cache" } };
}

/** `realpath` resolves links and `..` before the check, so neither leads out of `webRoot`. */
async function readInside(webRoot: string, pathname: string): Promise<Buffer | null> {
  try {
    const root = await realpath(webRoot);
    const file = await realpath(join(root, decodeURIComponent(pathname)));
    return file.startsWith(root + sep) ? await readFile(file) : null;
  } catch {
    // The file is missing, is a folder, or `pathname` is malformed.
    return null;
  }
}
