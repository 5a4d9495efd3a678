// `EngineAddress` is the Unix socket of the process that has the engine of a data folder.
import { existsSync } from "node:fs";
import { resolve } from "node:path";
import { createSocketClient, SOCKET_URL, type HeldAnswer, type SocketClient } from "./socket-client.ts";
import { createCall } from "../../client/call-route.ts";
import { readError } from "../../client/request-error.ts";
import { engineSocketIn } from "../../main/socket-path.ts";
import { DASHBOARD_PATH, HostedServer, SERVER_PATH, type HostedServerRequest } from "../../schema/api/hosted-server.ts";

/** `GET /api/health` answers at once, so a process that exceeds this limit counts as unreachable. */
const HEALTH_TIMEOUT_MS = 5000;

export class EngineAddress {
  readonly #path: string;
  readonly client: SocketClient;

  constructor(dataDir: string) {
    this.#path = engineSocketIn(resolve(dataDir));
    this.client = createSocketClient(this.#path);
  }

  async answers(): Promise<boolean> {
    if (!existsSync(this.#path)) return false;
    const call = createCall({ baseUrl: SOCKET_URL, fetch: this.client.fetch });
    const signal = AbortSignal.timeout(HEALTH_TIMEOUT_MS);
    return call("GET /api/health", { signal }).then(
      () => true,
      () => false,
    );
  }

  /** The dashboard lasts as long as the process that has the engine. Unlike `openServer`, it has no `close`. */
  async openDashboard(): Promise<HostedServer> {
    const response = await this.client.fetch(new URL(DASHBOARD_PATH, SOCKET_URL), { method: "POST" });
    if (!response.ok) throw await readError(response);
    return HostedServer.parse(await response.json());
  }

  /** The server lasts until `close`, or until the process that has the engine ends. */
  async openServer(request: HostedServerRequest): Promise<HostedServer & Omit<HeldAnswer, "line">> {
    const { line, ended, close } = await this.client.hold(SERVER_PATH, request);
    return { ...HostedServer.parse(JSON.parse(line)), ended, close };
  }
}
