// A real browser with an enabled debugger, and pages that implement the session bridge.
import { spawn, type ChildProcess } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { BRIDGE } from "./cdp-bridge.ts";
import { openDevTools } from "../../src/session/drivers/cdp/devtools.ts";

/** Prevents requests other than those for the opened pages. */
const FLAGS = [
  "--headless=new",
  "--no-sandbox",
  "--disable-gpu",
  "--no-first-run",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
  "--remote-debugging-port=0",
];

export class DebuggedBrowser {
  readonly #folder = mkdtempSync(join(tmpdir(), "tutti-cdp-"));
  readonly #browser: ChildProcess;
  readonly #server: Server;
  #port = "";
  #count = 0;

  private constructor(executable: string, server: Server) {
    this.#server = server;
    // In its own process group, so that all of its processes can be killed.
    this.#browser = spawn(executable, [...FLAGS, `--user-data-dir=${this.#folder}`, "about:blank"], {
      stdio: "ignore",
      detached: true,
    });
  }

  static async start(executable: string): Promise<DebuggedBrowser> {
    const server = createServer((request, response) => {
      const query = new URL(request.url!, "http://page").searchParams;
      const script = query.has("bridge")
        ? `<script>(${BRIDGE})(${JSON.stringify(Object.fromEntries(query))})</script>`
        : "";
      response.setHeader("content-type", "text/html; charset=utf-8");
      response.end(`<!doctype html><title>${query.get("title")}</title>${script}`);
    });
    await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
    const browser = new DebuggedBrowser(executable, server);
    const file = join(browser.#folder, "DevToolsActivePort");
    while (!existsSync(file) || readFileSync(file, "utf8").split("\n").length < 2) {
      const { exitCode, signalCode } = browser.#browser;
      if (exitCode !== null || signalCode !== null) throw new Error("the browser did not start");
      await sleep(50);
    }
    browser.#port = readFileSync(file, "utf8").split("\n")[0]!;
    return browser;
  }

  get address(): string {
    return `http://127.0.0.1:${this.#port}`;
  }

  /** Opens a page with a unique title; `bridge` selects its methods. */
  async open(query: Record<string, string> = { bridge: "window" }): Promise<DebuggedPage> {
    const title = `page-${process.pid}-${++this.#count}-end`;
    const { port } = this.#server.address() as AddressInfo;
    const url = `http://127.0.0.1:${port}/?${new URLSearchParams({ title, ...query }).toString()}`;
    const response = await fetch(`${this.address}/json/new?${encodeURIComponent(url)}`, { method: "PUT" });
    const { id, webSocketDebuggerUrl } = (await response.json()) as { id: string; webSocketDebuggerUrl: string };
    const page = new DebuggedPage(this.address, id, webSocketDebuggerUrl, title);
    while ((await page.evaluate("document.readyState + document.title")) !== `complete${title}`) await sleep(20);
    return page;
  }

  async stop(): Promise<void> {
    const gone = new Promise((done) => this.#browser.once("exit", done));
    process.kill(-this.#browser.pid!, "SIGKILL");
    await gone;
    this.#server.closeAllConnections();
    await new Promise((done) => this.#server.close(done));
    rmSync(this.#folder, { recursive: true, force: true, maxRetries: 10, retryDelay: 50 });
  }
}

export class DebuggedPage {
  readonly agent: string;
  readonly socket: string;
  readonly #browser: string;
  readonly #id: string;

  constructor(browser: string, id: string, socket: string, title: string) {
    this.#browser = browser;
    this.#id = id;
    this.socket = socket;
    this.agent = `cdp:${browser}#${title}`;
  }

  async evaluate(expression: string): Promise<unknown> {
    return this.#ask("Runtime.evaluate", { expression, returnByValue: true });
  }

  /** All calls of the bridge so far. */
  async calls(): Promise<[name: string, ...args: unknown[]][]> {
    return (await this.evaluate("calls")) as [string, ...unknown[]][];
  }

  async close(): Promise<void> {
    await fetch(`${this.#browser}/json/close/${this.#id}`);
  }

  async crash(): Promise<void> {
    await this.#ask("Page.crash", {}).catch(() => {});
  }

  async #ask(method: string, params: object): Promise<unknown> {
    const devtools = await openDevTools(this.socket);
    try {
      await devtools.send("Inspector.enable");
      const { result } = (await devtools.send(method, params)) as { result?: { value?: unknown } };
      return result?.value;
    } finally {
      devtools.close();
    }
  }
}
