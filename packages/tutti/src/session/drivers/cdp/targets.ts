import type { DebuggerAddress } from "./address.ts";
import { recordOf } from "../../json-fields.ts";

export interface DebugTarget {
  /** For messages to the user. */
  label: string;
  url: string;
}

const LIST_MS = 5000;
const MAX_LIST_BYTES = 4 * 1024 * 1024;
/** A browser may have hundreds of pages, so `MAX_TARGETS` are checked. */
const MAX_TARGETS = 50;
const KINDS = new Set(["page", "webview", "iframe", "node"]);

/** The main process of an application always matches; `openPages` selects its pages. */
export async function findTargets({ host, target, page }: DebuggerAddress): Promise<DebugTarget[]> {
  if (target !== null) return [{ label: target, url: `ws://${host}${target}` }];
  const list = await readList(host);
  return list
    .map(recordOf)
    .filter((entry) => KINDS.has(String(entry["type"])))
    .filter((entry) => entry["type"] === "node" || isWanted(page, entry["title"], entry["url"]))
    .flatMap((entry): DebugTarget[] => {
      // Only the path comes from the list: the connection goes to the user's `host`.
      const written = String(entry["webSocketDebuggerUrl"]);
      if (!URL.canParse(written)) return [];
      const { pathname, search } = new URL(written);
      return [{ label: labelOf(entry["title"], entry["url"]), url: `ws://${host}${pathname}${search}` }];
    })
    .slice(0, MAX_TARGETS);
}

export function isWanted(page: string, title: unknown, url: unknown): boolean {
  const wanted = page.toLowerCase();
  return [title, url].some((text) => typeof text === "string" && text.toLowerCase().includes(wanted));
}

/** Removes control characters, which could change the display of a message. */
export function labelOf(title: unknown, url: unknown): string {
  const name = [title, url].find((text) => typeof text === "string" && text !== "") as string | undefined;
  return JSON.stringify((name ?? "").slice(0, 80).replaceAll(/\p{C}/gu, ""));
}

async function readList(host: string): Promise<unknown[]> {
  const address = `http://${host}/json/list`;
  try {
    const response = await fetch(address, { redirect: "error", signal: AbortSignal.timeout(LIST_MS) });
    const list: unknown = JSON.parse(await readBody(response));
    if (!Array.isArray(list)) throw new Error("its answer is not a list");
    return list;
  } catch (error) {
    const { message, cause } = error as Error;
    const reason = cause instanceof Error ? cause.message : message;
    throw new Error(`no debugger answers at ${host}: ${reason}`, { cause: error });
  }
}

async function readBody(response: Response): Promise<string> {
  const parts: Uint8Array[] = [];
  let size = 0;
  for await (const part of response.body ?? []) {
    size += part.length;
    if (size > MAX_LIST_BYTES) throw new Error("its list is too long");
    parts.push(part);
  }
  return Buffer.concat(parts).toString("utf8");
}
