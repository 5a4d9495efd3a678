// The dashboard's files. Whatever a path says, only files that really lie in the folder are read.
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

/** Names in this folder carry a hash of their content; one that is missing is missing, not a page of the dashboard. */
const HASHED = "/assets/";

export interface StaticFile {
  content: Buffer;
  headers: Record<string, string>;
}

/** The file of a URL's path; for any other path the page itself, which knows its own addresses. Null if there is none. */
export async function findStaticFile(webRoot: string, pathname: string): Promise<StaticFile | null> {
  const file = await readInside(webRoot, pathname);
  if (file !== null) {
    const caching = pathname.startsWith(HASHED) ? "public, max-age=31536000, immutable" : "no-cache";
    const type = CONTENT_TYPES[extname(pathname).toLowerCase()] ?? "application/octet-stream";
    return { content: file, headers: { "Content-Type": type, "Cache-Control": caching } };
  }
  const page = pathname.startsWith(HASHED) ? null : await readInside(webRoot, "/index.html");
  return page && { content: page, headers: { "Content-Type": CONTENT_TYPES[".html"]!, "Cache-Control": "no-cache" } };
}

/** Links are followed before the place is judged, so neither `..` nor a link leads out. */
async function readInside(webRoot: string, pathname: string): Promise<Buffer | null> {
  try {
    const root = await realpath(webRoot);
    const file = await realpath(join(root, decodeURIComponent(pathname)));
    return file.startsWith(root + sep) ? await readFile(file) : null;
  } catch {
    // Not there, a folder, or no path at all.
    return null;
  }
}
