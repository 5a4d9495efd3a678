import type { DebuggerAddress } from "./address.ts";
import { openPages, type DebuggedPage } from "./page.ts";
import { readSessionId } from "../../polled/session-controller.ts";

export interface Bridge {
  /** Resolves to the page's id of the session. */
  start(cwd: string, message: string, title: string): Promise<string>;
  send(id: string, message: string): Promise<void>;
  transcript(id: string): Promise<unknown>;
  /** Null if the page has no description of the session. */
  session(id: string): Promise<unknown>;
  /** `interrupt`, `archive` and `permit` are null if the page lacks them. */
  interrupt: ((id: string) => Promise<void>) | null;
  archive: ((id: string) => Promise<void>) | null;
  permit: ((requestId: string | number, choice: string) => Promise<void>) | null;
  /** Whether the page emits events, so that it needs less polling. */
  emitsEvents: boolean;
  lost(): string | null;
  close(): Promise<void>;
}

interface Dialect {
  /** The object with the methods, as a path from `window`. */
  path: string[];
  start: string;
  startArguments(cwd: string, message: string, title: string): unknown[];
  list: string[];
  interrupt: string[];
  archive: string[];
}

/** `useWorktree` is false, because the workspace is a worktree already. */
const DIALECTS: Dialect[] = [
  {
    path: [],
    start: "startNewSessionWithMessage",
    startArguments: (cwd, message, title) => [cwd, message, { title, useWorktree: false }],
    list: ["getAllSessions", "listSessions"],
    interrupt: ["interruptSession", "interrupt"],
    archive: ["archiveSession"],
  },
  {
    path: ["claude.web", "LocalSessions"],
    start: "start",
    startArguments: (cwd, message, title) => [{ cwd, message, title, useWorktree: false }],
    list: ["getAll", "getSessionList"],
    interrupt: ["interrupt"],
    archive: ["archive"],
  },
];

const NEEDED = ["getTranscript", "sendMessage"];
const OPTIONAL = ["getSession", "respondToToolPermission", "onEvent"];
/** In characters. The page refuses to return an answer longer than `MAX_ANSWER`. */
const MAX_ANSWER = 16 * 1024 * 1024;

interface PageBridge {
  page: DebuggedPage;
  dialect: Dialect;
  names: Set<string>;
}

/** Throws if no page or several have a bridge, or if a method in `NEEDED` is missing. */
export async function openBridge(address: DebuggerAddress, onChange: () => void): Promise<Bridge> {
  const pages = await openPages(address);
  try {
    const results = await Promise.allSettled(pages.map(findBridge));
    const found = results.flatMap((result) => (result.status === "fulfilled" && result.value ? [result.value] : []));
    const [only, other] = found;
    if (only === undefined) throw new Error(noBridge(address, pages));
    if (other !== undefined) throw new Error(severalBridges(found));
    const missing = NEEDED.filter((name) => !only.names.has(name));
    if (missing.length > 0)
      throw new Error(`the session bridge of the page ${only.page.label} lacks ${missing.join(" and ")}`);
    const emitsEvents = await subscribe(only, onChange);
    await Promise.all(pages.filter(({ connection }) => connection !== only.page.connection).map(closePage));
    return makeBridge(only, emitsEvents);
  } catch (error) {
    await Promise.all(pages.map(closePage));
    throw error;
  }
}

const closePage = (page: DebuggedPage): Promise<void> => page.close();

async function findBridge(page: DebuggedPage): Promise<PageBridge | null> {
  const names = DIALECTS.map(({ start, list, interrupt, archive }) => [
    start,
    ...NEEDED,
    ...OPTIONAL,
    ...list,
    ...interrupt,
    ...archive,
  ]);
  const answer = await page.run(
    FIND_METHODS,
    DIALECTS.map(({ path }) => path),
    names,
  );
  for (const [i, dialect] of DIALECTS.entries()) {
    const has: unknown = Array.isArray(answer) ? answer[i] : null;
    const found = new Set(Array.isArray(has) ? has.filter((name) => typeof name === "string") : []);
    if (found.has(dialect.start)) return { page, dialect, names: found };
  }
  return null;
}

async function subscribe({ page, dialect, names }: PageBridge, onChange: () => void): Promise<boolean> {
  if (!names.has("onEvent") || page.subscribe === null) return false;
  try {
    await page.subscribe(SUBSCRIBE, onChange, dialect.path);
    return true;
  } catch {
    return false;
  }
}

function makeBridge({ page, dialect, names }: PageBridge, emitsEvents: boolean): Bridge {
  const call = (method: string, ...args: unknown[]): Promise<unknown> =>
    page.run(CALL_METHOD, dialect.path, method, args, MAX_ANSWER).catch((error: unknown) => {
      throw new Error(`${method}: ${(error as Error).message}`, { cause: error });
    });
  const first = (candidates: string[]): string | null => candidates.find((name) => names.has(name)) ?? null;
  const act = (name: string | null) =>
    name === null ? null : async (id: string): Promise<void> => void (await call(name, id));
  const list = first(dialect.list);
  return {
    start: async (cwd, message, title) =>
      readSessionId(await call(dialect.start, ...dialect.startArguments(cwd, message, title))),
    send: async (id, message) => void (await call("sendMessage", id, message)),
    transcript: (id) => call("getTranscript", id),
    async session(id) {
      if (names.has("getSession")) return call("getSession", id);
      return list === null ? null : pick(await call(list), id);
    },
    interrupt: act(first(dialect.interrupt)),
    archive: act(first(dialect.archive)),
    permit: names.has("respondToToolPermission")
      ? async (requestId, choice) => void (await call("respondToToolPermission", requestId, choice))
      : null,
    emitsEvents,
    lost: () => page.lost(),
    close: () => page.close(),
  };
}

/** Finds a session in a list, or in an object with the list as `sessions`. */
function pick(answer: unknown, id: string): unknown {
  const list = Array.isArray(answer) ? answer : (answer as { sessions?: unknown } | null)?.sessions;
  const named = (each: unknown): boolean => {
    const { sessionId, id: other } = (each ?? {}) as Record<string, unknown>;
    return sessionId === id || other === id;
  };
  return Array.isArray(list) ? (list.find(named) ?? null) : null;
}

function noBridge({ host, page }: DebuggerAddress, pages: readonly DebuggedPage[]): string {
  const where = page === "" ? `at ${host}` : `at ${host} with ${JSON.stringify(page)} in its title or URL`;
  if (pages.length === 0) return `the debugger has no page ${where}`;
  const methods = "startNewSessionWithMessage, or claude.web LocalSessions.start";
  const checked = pages.map(({ label }) => label).join(", ");
  return `no page ${where} exposes the session bridge (${methods}). These pages were checked: ${checked}.`;
}

const severalBridges = (found: readonly PageBridge[]): string =>
  `several pages expose the session bridge: ${found.map(({ page }) => page.label).join(", ")}. Add "#" and a part of the title to the agent.`;

const FIND_METHODS = `function (paths, names) {
  return JSON.stringify(paths.map((path, i) => {
    try {
      const holder = path.reduce((object, name) => object[name], this);
      return names[i].filter((name) => typeof holder[name] === "function");
    } catch {
      return [];
    }
  }));
}`;

const CALL_METHOD = `async function (path, method, args, limit) {
  const holder = path.reduce((object, name) => object[name], this);
  const answer = JSON.stringify(await holder[method](...args)) ?? "null";
  if (answer.length > limit) throw new Error("the answer is longer than " + limit + " characters");
  return answer;
}`;

const SUBSCRIBE = `async function (name, path) {
  const holder = path.reduce((object, name) => object[name], this);
  const emit = this[name];
  const subscription = { live: true, off: null };
  subscription.off = await holder.onEvent(() => { if (subscription.live) emit(""); });
  return subscription;
}`;
