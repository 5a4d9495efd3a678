// A `DebuggedPage` calls functions in a page behind a debugger, directly or through the main process of an Electron
// application.
//
// Invariants
// 1. Only constants of this program run as code in a page. All other values are passed as JSON.
// 2. Answers are JSON texts, which are parsed and never evaluated.
import { randomBytes } from "node:crypto";
import type { DebuggerAddress } from "./address.ts";
import { openDevTools, type DevTools } from "./devtools.ts";
import { recordOf, type Fields } from "../../json-fields.ts";
import { findTargets, isWanted, labelOf, type DebugTarget } from "./targets.ts";

export interface DebuggedPage {
  label: string;
  /** Pages of one Electron application share a `connection`: closing one page closes all. */
  connection: object;
  /** Calls the function `source` with JSON values; it must return JSON. */
  run(source: string, ...args: unknown[]): Promise<unknown>;
  /** Calls `source` with the name of a binding and `args`. The page calls the binding on changes. May be null. */
  subscribe: ((source: string, listener: () => void, ...args: unknown[]) => Promise<void>) | null;
  lost(): string | null;
  /** Also removes the subscription and the binding from the page. */
  close(): Promise<void>;
}

export async function openPages(address: DebuggerAddress): Promise<DebuggedPage[]> {
  const targets = await findTargets(address);
  const opened = await Promise.allSettled(targets.map((target) => openTarget(target, address.page)));
  const failed = opened.find((result) => result.status === "rejected");
  const pages = opened.flatMap((result) => (result.status === "fulfilled" ? result.value : []));
  if (pages.length === 0 && failed) throw failed.reason;
  return pages;
}

async function openTarget(target: DebugTarget, wanted: string): Promise<DebuggedPage[]> {
  const devtools = await openDevTools(target.url);
  try {
    // `Inspector.enable` reports crashes, also earlier ones. Targets without it are detected by a call that times out.
    await devtools.send("Inspector.enable").catch(() => {});
    if ((await callIn(devtools, IS_WINDOW, [])) === true) return [directPage(devtools, target.label)];
    const contents = await callIn(devtools, LIST_CONTENTS, []);
    const pages = (Array.isArray(contents) ? contents : [])
      .map(recordOf)
      .filter(({ title, url }) => isWanted(wanted, title, url))
      .map(({ id, title, url }) => electronPage(devtools, id, labelOf(title, url)));
    if (pages.length === 0) devtools.close();
    return pages;
  } catch (error) {
    devtools.close();
    throw error;
  }
}

function directPage(devtools: DevTools, label: string): DebuggedPage {
  const leave: (() => Promise<unknown>)[] = [];
  return {
    label,
    connection: devtools,
    run: (source, ...args) => callIn(devtools, source, args),
    async subscribe(source, listener, ...args) {
      // A random name, so that calls from an earlier connection's subscription are ignored.
      const name = `tutti${randomBytes(8).toString("hex")}`;
      devtools.on("Runtime.bindingCalled", (params) => {
        if (params["name"] === name) listener();
      });
      await devtools.send("Runtime.addBinding", { name });
      const objectId = await objectOf(devtools, source, [name, ...args]);
      leave.push(
        () => devtools.send("Runtime.callFunctionOn", { objectId, functionDeclaration: UNSUBSCRIBE }),
        () => devtools.send("Runtime.removeBinding", { name }),
        () => callIn(devtools, FORGET_NAME, [name]),
      );
    },
    lost: () => devtools.lost(),
    async close() {
      for (const step of leave) if (devtools.lost() === null) await step().catch(() => {});
      devtools.close();
    },
  };
}

/** Bindings do not reach pages of an Electron application, so `subscribe` is null. */
function electronPage(devtools: DevTools, id: unknown, label: string): DebuggedPage {
  return {
    label,
    connection: devtools,
    async run(source, ...args) {
      // JSON is valid JavaScript, so the arguments stay data.
      const code = `(${source}).apply(globalThis, ${JSON.stringify(args)})`;
      return callIn(devtools, RUN_IN_CONTENTS, [id, code]);
    },
    subscribe: null,
    lost: () => devtools.lost(),
    close: async () => devtools.close(),
  };
}

async function callIn(devtools: DevTools, functionDeclaration: string, args: readonly unknown[]): Promise<unknown> {
  const answer = await invoke(devtools, functionDeclaration, args, true);
  const { value } = recordOf(answer["result"]);
  if (typeof value !== "string") throw new Error("the page did not answer with JSON");
  return JSON.parse(value);
}

async function objectOf(devtools: DevTools, functionDeclaration: string, args: readonly unknown[]): Promise<unknown> {
  return recordOf((await invoke(devtools, functionDeclaration, args, false))["result"])["objectId"];
}

async function invoke(
  devtools: DevTools,
  functionDeclaration: string,
  args: readonly unknown[],
  returnByValue: boolean,
): Promise<Fields> {
  // Evaluated for each call, because a reloaded page has another `globalThis`.
  const found = await devtools.send("Runtime.evaluate", { expression: "globalThis" });
  const answer = await devtools.send("Runtime.callFunctionOn", {
    objectId: recordOf(found["result"])["objectId"],
    functionDeclaration,
    arguments: args.map((value) => ({ value })),
    awaitPromise: true,
    returnByValue,
  });
  if (answer["exceptionDetails"] === undefined) return answer;
  throw new Error(messageOf(recordOf(answer["exceptionDetails"])));
}

/** `messageOf` is the first line of the exception, without the stack. */
function messageOf(details: Fields): string {
  const { description, value } = recordOf(details["exception"]);
  const [line] = String(description ?? value ?? details["text"]).split("\n", 1);
  return line!.replace(/^Error: /, "").slice(0, 500);
}

const IS_WINDOW = `function () { return JSON.stringify(typeof window === "object"); }`;

const UNSUBSCRIBE = `function () { this.live = false; if (typeof this.off === "function") this.off(); }`;

const FORGET_NAME = `function (name) { return JSON.stringify(delete this[name]); }`;

const LIST_CONTENTS = `function () {
  if (typeof process !== "object" || !process.versions.electron)
    throw new Error("the debugger's target is neither a page nor an Electron application");
  const { webContents } = process.mainModule.require("electron");
  const pages = webContents.getAllWebContents().filter((each) => !each.isDestroyed());
  return JSON.stringify(pages.map((each) => ({ id: each.id, title: each.getTitle(), url: each.getURL() })));
}`;

const RUN_IN_CONTENTS = `function (id, code) {
  return process.mainModule.require("electron").webContents.fromId(id).executeJavaScript(code);
}`;
