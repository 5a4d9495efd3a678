// Test fixture: a real engine on a temporary data folder, a real server on its own port, and clients that can send any
// header.
import { once } from "node:events";
import { request, type IncomingHttpHeaders, type IncomingMessage, type OutgoingHttpHeaders } from "node:http";
import { join } from "node:path";
import { expect } from "vitest";
import { WebSocket } from "ws";
import { openLocalEngine, type LocalEngine } from "../../src/main/local-engine.ts";
import { openSchedules } from "../../src/main/local-server.ts";
import { openMachine } from "../../src/main/machine.ts";
import { openTokens } from "../../src/main/settings.ts";
import type { HostRow } from "../../src/schema/api/host-routes.ts";
import { TuttiError } from "../../src/schema/error.ts";
import type { Hosts } from "../../src/server/hosts.ts";
import type { OpenAutomation } from "../../src/schedule/automation.ts";
import type { Run } from "../../src/schema/run.ts";
import { startServer, type RunningServer } from "../../src/server/start-server.ts";
import { loadToken } from "../../src/server/access/token.ts";
import type { SessionHost } from "../../src/session/session.ts";
import { Lab } from "../lab/lab.ts";
import { createScriptedHost, type ScriptedAgents } from "../lab/scripted-host.ts";

export interface Asked {
  method?: string;
  headers?: OutgoingHttpHeaders;
  /** Port of another server than the fixture's. */
  port?: number;
  /** Strings and bytes are sent unchanged, other values as JSON. */
  body?: unknown;
}

export interface Answered {
  status: number;
  headers: IncomingHttpHeaders;
  text: string;
  // oxlint-disable-next-line typescript/no-explicit-any -- tests check the members that they read.
  json: any;
}

/** An event on the wire. */
export interface LiveFrame {
  /** Position in the log of the whole server. */
  seq: number;
  /** Null for events of the server itself. */
  run: string | null;
  /** Position in the log of the run. */
  runSeq: number;
  type: string;
  data: unknown;
  timestamp: string;
}

export const VERSION = "1.2.3";

const HOST: HostRow = {
  id: "host_1",
  name: "one",
  labels: { gpu: "yes" },
  capacity: 2,
  version: VERSION,
  agents: ["local"],
  state: "ready",
  tasks: ["a"],
  sessions: 1,
  seenAt: "2026-01-01T00:00:00.000Z",
};
const findHost = async (id: string): Promise<void> => {
  if (id !== HOST.id) throw new TuttiError("host_not_found", `The host "${id}" does not exist.`);
};
/** Hosts that stay. The tests of `fleet` have hosts in a database. */
const HOSTS: Hosts = {
  list: async () => [HOST, { ...HOST, id: "another" }],
  drain: findHost,
  undrain: findHost,
  remove: findHost,
};

interface StartOptions {
  /** Runs `script:` agents as processes under keepers instead of in this process. */
  withKeepers?: boolean;
  webRoot?: string;
  port?: number;
  agentEnv?: Record<string, string>;
}

export class ServerLab {
  readonly lab = new Lab();
  readonly token = loadToken(this.lab.data);
  readonly tokens = openTokens(this.lab.data);
  readonly #agents: ScriptedAgents = new Map();
  readonly #followers: Follower[] = [];
  local!: LocalEngine;
  server!: RunningServer;
  automation!: OpenAutomation;

  static async open(options: StartOptions = {}): Promise<ServerLab> {
    const self = new ServerLab();
    await self.start(options);
    return self;
  }

  async start({ webRoot, port = 0, agentEnv = {}, withKeepers = false }: StartOptions = {}): Promise<void> {
    const replaceHost = (kept: SessionHost) => (withKeepers ? kept : createScriptedHost(this.#agents, kept));
    this.local = openLocalEngine({ dataDir: this.lab.data, agentEnv, replaceHost });
    const { engine, templates } = this.local;
    this.automation = openSchedules(this.lab.data, engine);
    const { token, tokens, automation } = this;
    const machine = openMachine(this.lab.data, VERSION);
    const serverOptions = {
      engine,
      templates,
      token,
      tokens,
      automation,
      machine,
      hosts: HOSTS,
      port,
      version: VERSION,
    };
    this.server = await startServer({ ...serverOptions, webRoot: webRoot ?? null });
  }

  async stop(): Promise<void> {
    await this.server.close();
    await this.local.close();
  }

  async tearDown(): Promise<void> {
    for (const follower of this.#followers) follower.leave();
    await this.stop();
    this.lab.tearDown();
  }

  get engine(): LocalEngine["engine"] {
    return this.local.engine;
  }

  get host(): string {
    return `127.0.0.1:${this.server.port}`;
  }

  get bearer(): OutgoingHttpHeaders {
    return { authorization: `Bearer ${this.token}` };
  }

  /** Sends a request with exactly these headers, so without a token unless they contain it. */
  async ask(path: string, request: Asked = {}): Promise<Answered> {
    const response = await this.open(path, request);
    const chunks: Buffer[] = [];
    for await (const chunk of response) chunks.push(chunk as Buffer);
    const text = Buffer.concat(chunks).toString("utf8");
    const isJson = text !== "" && response.headers["content-type"]?.startsWith("application/json");
    return { status: response.statusCode!, headers: response.headers, text, json: isJson ? JSON.parse(text) : null };
  }

  async open(
    path: string,
    { method = "GET", headers = {}, body, port = this.server.port }: Asked = {},
  ): Promise<IncomingMessage> {
    const sent = body === undefined || typeof body === "string" || Buffer.isBuffer(body) ? body : JSON.stringify(body);
    // Node sets no header for the body of a DELETE by itself.
    const length = sent === undefined || method !== "DELETE" ? {} : { "content-length": Buffer.byteLength(sent) };
    // One connection per request, so that no idle one is left when the server closes.
    const asking = request({ host: "127.0.0.1", port, path, method, headers: { ...length, ...headers }, agent: false });
    asking.end(sent);
    const [response] = (await once(asking, "response")) as [IncomingMessage];
    return response;
  }

  /** Sends a request with the bearer token. */
  async api(path: string, request: Asked = {}): Promise<Answered> {
    return this.ask(path, { ...request, headers: { ...this.bearer, ...request.headers } });
  }

  post(path: string, body?: unknown): Promise<Answered> {
    return this.api(path, { method: "POST", body });
  }

  put(path: string, body?: unknown): Promise<Answered> {
    return this.api(path, { method: "PUT", body });
  }

  delete(path: string, body?: unknown): Promise<Answered> {
    return this.api(path, { method: "DELETE", body });
  }

  async create(agent: string, more: object = {}): Promise<string> {
    const body = { templateId: "documentation", cwd: this.lab.repo, message: "write it down", agent, ...more };
    const { status, json } = await this.post("/api/orchestrator", body);
    expect(status, JSON.stringify(json)).toBe(201);
    return json.orchestratorId;
  }

  until(id: string, reached: (run: Run) => boolean): Promise<Run> {
    return this.engine.until(id, reached);
  }

  /** The frames of the whole log. */
  stored(): LiveFrame[] {
    return this.engine.events({}).map((event) => ({ ...event, timestamp: new Date(event.timestamp).toISOString() }));
  }

  /** Opens a WebSocket with the token. */
  async socket(query = "", headers: OutgoingHttpHeaders = this.bearer): Promise<SocketFollower> {
    const follower = new SocketFollower(`ws://${this.host}/api/events${query}`, headers);
    this.#followers.push(follower);
    await once(follower.socket, "open");
    return follower;
  }

  /** The response to a rejected upgrade. */
  async refusedSocket(path: string, headers: OutgoingHttpHeaders): Promise<{ status: number; text: string }> {
    const socket = new WebSocket(`ws://${this.host}${path}`, { headers: headers as Record<string, string> });
    socket.on("error", () => {});
    const [, response] = (await once(socket, "unexpected-response")) as [unknown, IncomingMessage];
    const chunks: Buffer[] = [];
    for await (const chunk of response) chunks.push(chunk as Buffer);
    return { status: response.statusCode!, text: Buffer.concat(chunks).toString("utf8") };
  }

  async stream(query = "", headers: OutgoingHttpHeaders = {}): Promise<StreamFollower> {
    const request = { headers: { ...this.bearer, accept: "text/event-stream", ...headers } };
    const follower = new StreamFollower(await this.open(`/api/events${query}`, request));
    this.#followers.push(follower);
    return follower;
  }

  webFolder(files: Record<string, string>): string {
    for (const [name, text] of Object.entries(files)) this.lab.write(join("web", name), text);
    return join(this.lab.repo, "web");
  }
}

abstract class Follower {
  readonly frames: LiveFrame[] = [];
  #wake = Promise.withResolvers<void>();
  abstract readonly closed: Promise<unknown>;

  abstract leave(): void;

  protected take(frame: LiveFrame): void {
    this.frames.push(frame);
    this.#wake.resolve();
    this.#wake = Promise.withResolvers();
  }

  /** Resolves when the frames received so far satisfy the condition, and rejects if the connection closes before. */
  async until(reached: (frames: LiveFrame[]) => boolean): Promise<LiveFrame[]> {
    let isOpen = true;
    void this.closed.then(() => {
      isOpen = false;
      this.#wake.resolve();
    });
    while (!reached(this.frames)) {
      if (!isOpen) throw new Error(`The connection was closed after ${this.frames.length} frames.`);
      await this.#wake.promise;
    }
    return this.frames;
  }

  seqs(): number[] {
    return this.frames.map(({ seq }) => seq);
  }

  reached(seq: number): Promise<LiveFrame[]> {
    return this.until((frames) => (frames.at(-1)?.seq ?? 0) >= seq);
  }
}

export class SocketFollower extends Follower {
  readonly socket: WebSocket;
  readonly closed: Promise<number>;

  constructor(url: string, headers: OutgoingHttpHeaders) {
    super();
    this.socket = new WebSocket(url, { headers: headers as Record<string, string> });
    this.socket.on("message", (data: Buffer) => this.take(JSON.parse(data.toString("utf8")) as LiveFrame));
    this.socket.on("error", () => {});
    this.closed = new Promise((resolve) => this.socket.once("close", resolve));
  }

  /** Sends a message and waits until the server has read it: a ping after it is answered in order. */
  async say(message: unknown): Promise<void> {
    this.socket.send(typeof message === "string" || Buffer.isBuffer(message) ? message : JSON.stringify(message));
    this.socket.ping();
    await once(this.socket, "pong");
  }

  override leave(): void {
    this.socket.terminate();
  }
}

export class StreamFollower extends Follower {
  readonly response: IncomingMessage;
  readonly ids: string[] = [];
  readonly comments: string[] = [];
  readonly closed: Promise<unknown>;
  #rest = "";

  constructor(response: IncomingMessage) {
    super();
    this.response = response;
    this.closed = new Promise((resolve) => response.once("close", resolve));
    response.on("error", () => {});
    response.setEncoding("utf8").on("data", (text: string) => this.#read(text));
  }

  #read(text: string): void {
    const blocks = (this.#rest + text).split("\n\n");
    this.#rest = blocks.pop()!;
    for (const line of blocks.flatMap((block) => block.split("\n"))) {
      if (line.startsWith(":")) this.comments.push(line);
      if (line.startsWith("id: ")) this.ids.push(line.slice(4));
      if (line.startsWith("data: ")) this.take(JSON.parse(line.slice(6)) as LiveFrame);
    }
  }

  override leave(): void {
    this.response.destroy();
  }
}
