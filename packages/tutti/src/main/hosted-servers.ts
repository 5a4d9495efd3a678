// `HostedServers` are opened in a process with an engine for other processes, which ask for them through its Unix
// socket. They apply the same access rules as `tutti serve`, because they are started by the same function.
import type { IncomingMessage, ServerResponse } from "node:http";
import { resolve } from "node:path";
import { text } from "node:stream/consumers";
import { openPort, serveEngine, type ServableEngine, type ServedEngine } from "./local-server.ts";
import { DEFAULT_PORT } from "./settings.ts";
import { readVersion } from "../own-files.ts";
import { DASHBOARD_PATH, HostedServerRequest, SERVER_PATH, type HostedServer } from "../schema/api/hosted-server.ts";
import { TuttiError } from "../schema/error.ts";
import { accessRequest } from "../server/access/access.ts";
import { checkSocketOrigin } from "../server/access/socket-access.ts";
import { encodeError } from "../server/encode-error.ts";

export class HostedServers {
  readonly #local: ServableEngine;
  readonly #dataDir: string;
  #dashboard: Promise<ServedEngine> | null = null;
  readonly #servers = new Map<ServerResponse, Promise<ServedEngine>>();
  #isClosed = false;

  constructor(dataDir: string, local: ServableEngine) {
    this.#dataDir = resolve(dataDir);
    this.#local = local;
  }

  /** Whether another process serves this engine, and so continues all runs when this process ends. */
  get hasServer(): boolean {
    return this.#servers.size > 0;
  }

  /** Starts the dashboard on loopback at the first call. */
  async openDashboard(): Promise<HostedServer> {
    this.#dashboard ??= this.#startDashboard().catch((error: unknown) => {
      this.#dashboard = null;
      throw error;
    });
    const { url, openUrl } = await this.#dashboard;
    return { url, openUrl };
  }

  async #startDashboard(): Promise<ServedEngine> {
    this.#mustBeOpen();
    const address = { host: "127.0.0.1", port: DEFAULT_PORT, orFreePort: true };
    return openPort(this.#local, { dataDir: this.#dataDir, version: readVersion(), ...address });
  }

  /** Answers the requests of `DASHBOARD_PATH` and `SERVER_PATH`. Returns false for all others. */
  readonly answer = (request: IncomingMessage, response: ServerResponse): boolean => {
    const isServer = request.url === SERVER_PATH;
    if (request.method !== "POST" || (!isServer && request.url !== DASHBOARD_PATH)) return false;
    const answered = isServer ? this.#serve(request, response) : this.#sendDashboard(request, response);
    answered.catch((error: unknown) => {
      const { status, body } = encodeError(error);
      response.writeHead(status, JSON_TYPE).end(JSON.stringify(body));
    });
    return true;
  };

  async #sendDashboard(request: IncomingMessage, response: ServerResponse): Promise<void> {
    checkSocketOrigin(accessRequest(request, false));
    response.writeHead(200, JSON_TYPE).end(JSON.stringify(await this.openDashboard()));
  }

  /** Sends the address as the first line, and then nothing until the server ends. */
  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    checkSocketOrigin(accessRequest(request, false));
    const options = HostedServerRequest.parse(JSON.parse(await text(request)));
    this.#mustBeOpen();
    const starting = serveEngine(this.#local, { ...options, dataDir: this.#dataDir, version: readVersion() });
    this.#servers.set(response, starting);
    response.on("close", () => {
      this.#servers.delete(response);
      starting.then((served) => served.close()).catch(() => {});
    });
    const { url, openUrl } = await starting;
    // `setTimeout(0)`: the server of the socket would end this idle connection.
    request.socket.setTimeout(0);
    response.writeHead(200, JSON_TYPE).write(`${JSON.stringify({ url, openUrl })}\n`);
  }

  #mustBeOpen(): void {
    if (this.#isClosed) throw new TuttiError("data_folder_in_use", "The process is about to end. Repeat the command.");
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    const open = [...this.#servers.values(), ...(this.#dashboard ? [this.#dashboard] : [])];
    await Promise.allSettled(open.map(async (served) => (await served).close()));
    for (const response of this.#servers.keys()) response.end();
  }
}

const JSON_TYPE = { "Content-Type": "application/json" };
