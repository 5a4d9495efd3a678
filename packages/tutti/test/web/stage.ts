// A `Lab`, a real engine with its server, and pages in a real browser. `troubles` collects console errors and warnings,
// page errors, dialogs and requests to other servers.
import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Browser, BrowserContextOptions, Page } from "playwright-core";
import { webRoot } from "./build-web.ts";
import { ReusedContext } from "./reused-context.ts";
import { Lab, processesOf } from "../lab/lab.ts";
import { createScriptedHost, type ScriptedAgents } from "../lab/scripted-host.ts";
import { openLocalEngine, type LocalEngine } from "../../src/main/local-engine.ts";
import { openSchedules } from "../../src/main/local-server.ts";
import { openMachine } from "../../src/main/machine.ts";
import { openTokens } from "../../src/main/settings.ts";
import type { HostRow } from "../../src/schema/api/host-routes.ts";
import { pathName } from "../../src/schema/ids.ts";
import { TuttiError } from "../../src/schema/error.ts";
import { DEFAULT_PERMISSIONS } from "../../src/schema/permissions.ts";
import type { Run } from "../../src/schema/run.ts";
import type { Hosts } from "../../src/server/hosts.ts";
import { makeSessionFolder, paths, writeSpec } from "../../src/session/keeper/session-folder.ts";
import { startServer, type RunningServer } from "../../src/server/start-server.ts";

const TOKEN = "token-of-the-tests";

// Without a graphics card, an animation occupies a whole core.
export const CONTEXT_OPTIONS = { viewport: { width: 1280, height: 800 }, reducedMotion: "reduce" } as const;

/** An action that waits this long hangs. It ends before the limit of its test, whose message names no action. */
const WAIT_MS = 480_000;

interface PageOptions extends BrowserContextOptions {
  token?: string;
  /** The page loads every script from the server, whatever the tests before have loaded. */
  emptyCache?: boolean;
}

export class Stage {
  readonly lab: Lab;
  readonly troubles: string[] = [];
  /** The worker hosts of the server. */
  readonly hosts: HostRow[];
  readonly #browser: Browser;
  readonly #reused: ReusedContext;
  readonly #agents: ScriptedAgents;
  #local: LocalEngine;
  #server: RunningServer;
  #hasPage = false;

  private constructor(
    browser: Browser,
    reused: ReusedContext,
    lab: Lab,
    agents: ScriptedAgents,
    local: LocalEngine,
    hosts: HostRow[],
    server: RunningServer,
  ) {
    this.#browser = browser;
    this.#reused = reused;
    this.#agents = agents;
    this.lab = lab;
    this.hosts = hosts;
    this.#local = local;
    this.#server = server;
  }

  static async open(browser: Browser, reused = new ReusedContext(browser, CONTEXT_OPTIONS)): Promise<Stage> {
    const lab = new Lab();
    const agents: ScriptedAgents = new Map();
    const local = openEngine(lab, agents);
    const hosts: HostRow[] = [];
    const server = await serve(lab, local, hosts, reused.port).catch((error: unknown) => {
      if (!(error instanceof TuttiError) || error.code !== "port_in_use") throw error;
      return serve(lab, local, hosts, 0);
    });
    reused.port = server.port;
    return new Stage(browser, reused, lab, agents, local, hosts, server);
  }

  get engine() {
    return this.#local.engine;
  }

  get templates() {
    return this.#local.templates;
  }

  get url(): string {
    return this.#server.url;
  }

  get openUrl(): string {
    return this.#openUrlOf(TOKEN);
  }

  #openUrlOf(token: string): string {
    return `${this.url}/?token=${token}`;
  }

  /** Creates a run and starts it unless `start` is false. `folder` names a clone of the repository to run in. */
  async begin(
    sessions: object[],
    message: string,
    { start = true, folder = "", templateId = "documentation", config = {} } = {},
  ): Promise<Run> {
    const cwd = folder === "" ? this.lab.repo : join(this.lab.folder, folder);
    if (!existsSync(cwd)) this.lab.git("clone", "-q", ".", cwd);
    const agent = this.lab.scenario(sessions, `scenario-${this.engine.list().length}.json`);
    const run = await this.engine.create({ templateId, cwd, message, agent, config });
    return start ? this.engine.order(run.id, "start") : run;
  }

  /** Makes the server read the transcript of a session from this `output.log`, as it reads that of a real agent. */
  writeTranscript(runId: string, sessionId: string, lines: readonly object[]): void {
    this.#agents.delete(`${runId} ${sessionId}`);
    const folder = join(this.lab.data, "sessions", runId, pathName(sessionId));
    makeSessionFolder(folder);
    writeSpec(folder, {
      sessionId,
      runId,
      agent: "command:agent",
      cwd: folder,
      mode: "stream",
      command: ["agent"],
      dialogue: null,
      permissions: DEFAULT_PERMISSIONS,
      interrupt: null,
      engineFile: join(folder, "engine.json"),
      orphanAfterMs: 1000,
      graceMs: 1000,
      stallMs: null,
      maxOutputBytes: 1_000_000_000,
    });
    writeFileSync(paths(folder).output, lines.map((line) => `${JSON.stringify(line)}\n`).join(""));
  }

  /** Lets the agent of a session write a text. */
  say(runId: string, sessionId: string, text: string): void {
    this.#agents.get(`${runId} ${sessionId}`)?.say(text);
  }

  async until(id: string, status: Run["status"]): Promise<Run> {
    return this.engine.until(id, (run) => run.status === status);
  }

  /**
   * A page that was opened with the printed URL, on the list or on a run. It shares nothing with other pages of the test,
   * and only the first page without options but `viewport` is in the reused context.
   */
  async page(path = "/", { token = TOKEN, emptyCache = false, viewport, ...options }: PageOptions = {}): Promise<Page> {
    const isReused = !emptyCache && !this.#hasPage && Object.keys(options).length === 0;
    this.#hasPage ||= isReused;
    const context = isReused
      ? await this.#reused.next(this.url)
      : await this.#browser.newContext({ ...CONTEXT_OPTIONS, ...options, ...(viewport && { viewport }) });
    context.setDefaultTimeout(WAIT_MS);
    const page = await context.newPage();
    if (isReused && viewport) await page.setViewportSize(viewport);
    page.on("console", (message) => {
      // Chromium drops all its requests when another program on the machine adds or removes a network interface.
      if (message.text().includes("ERR_NETWORK_CHANGED")) return;
      if (message.type() === "error" || message.type() === "warning") this.troubles.push(message.text());
    });
    page.on("pageerror", (error) => this.troubles.push(`uncaught: ${error.message}`));
    page.on("dialog", (dialog) => this.troubles.push(`dialog: ${dialog.message()}`));
    page.on("request", (request) => {
      if (!request.url().startsWith(this.url)) this.troubles.push(`request to ${request.url()}`);
    });
    page.on("websocket", (socket) => {
      if (!socket.url().startsWith(this.url.replace("http", "ws"))) this.troubles.push(`socket to ${socket.url()}`);
    });
    await page.goto(path === "/" ? this.#openUrlOf(token) : `${this.#openUrlOf(token)}#${path}`);
    return page;
  }

  /** Stops the server; its agents keep running under their keepers. */
  async stopServer(): Promise<void> {
    await this.#server.close();
    await this.#local.close({ leaveRunning: true });
  }

  async startServer(version?: string): Promise<void> {
    this.#local = openEngine(this.lab, this.#agents);
    this.#server = await serve(this.lab, this.#local, this.hosts, this.#server.port, version);
    for (const { id, released } of this.engine.list()) if (!released) await this.engine.activate(id);
  }

  async close(): Promise<void> {
    const own = this.#browser.contexts().filter((context) => !this.#reused.has(context));
    await Promise.all([this.#reused.closePages(), ...own.map((context) => context.close())]);
    await this.#server.close();
    await this.#local.close();
    const left = processesOf(this.lab.folder);
    this.lab.tearDown();
    if (left.length > 0) throw new Error(`The test left processes behind: ${left.join(", ")}.`);
  }
}

const openEngine = (lab: Lab, agents: ScriptedAgents): LocalEngine =>
  openLocalEngine({ dataDir: lab.data, replaceHost: (kept) => createScriptedHost(agents, kept) });

function serve(
  { data }: Lab,
  { engine, templates }: LocalEngine,
  rows: HostRow[],
  port: number,
  version = "0.0.0",
): Promise<RunningServer> {
  const machine = openMachine(data, version);
  const automation = openSchedules(data, engine);
  const tokens = openTokens(data);
  const hosts: Hosts = {
    list: async () => rows,
    drain: async (id) => void (rows.find((host) => host.id === id)!.state = "draining"),
    undrain: async (id) => void (rows.find((host) => host.id === id)!.state = "ready"),
    remove: async (id) =>
      void rows.splice(
        rows.findIndex((host) => host.id === id),
        1,
      ),
  };
  return startServer({ engine, templates, token: TOKEN, tokens, automation, machine, hosts, port, version, webRoot });
}
