// `JoinedEngine` is the engine of a data folder that another process has opened. Its socket answers requests; when that
// process ends, this one opens the engine itself and continues the runs that it follows.
import type { EngineAddress } from "./engine-address.ts";
import type { RunAccess } from "./runs.ts";
import { serverRuns, type RunsAddress } from "./server-runs.ts";
import { SOCKET_URL, UnsentRequest, type SocketClient } from "./socket-client.ts";
import { untilFree } from "./until-free.ts";
import type { LocalEngine } from "../../main/local-engine.ts";

/** `HANDOVER_MS` limits how long a process may take to end its agents before the next one opens the engine. */
const HANDOVER_MS = 15_000;

export class JoinedEngine {
  readonly #open: () => LocalEngine;
  readonly #address: EngineAddress;
  /** Null until the other process has ended. */
  #own: LocalEngine | null = null;
  /** Runs with live events that this process reads. `#takeOver` continues them. */
  readonly #followed = new Set<string>();
  #reaching: Promise<void> | null = null;
  #isClosed = false;

  /** `open` opens the engine in this process, or throws `data_folder_in_use`. */
  constructor(address: EngineAddress, open: () => LocalEngine) {
    this.#address = address;
    this.#open = open;
  }

  get address(): RunsAddress {
    return {
      baseUrl: SOCKET_URL,
      fetch: this.#fetch,
      socket: {
        open: (url, token) => {
          this.#followed.add(new URL(url).searchParams.get("run")!);
          return this.#address.client.open(url, token);
        },
        reach: () => this.#reach(),
        isOwn: () => this.#own !== null,
        hasServer: () => this.#own?.hasServer() ?? false,
        isFollowed: (id) => this.#own?.isFollowed(id) ?? false,
        openDashboard: async () => (await this.#address.openDashboard()).openUrl,
        settled: async (id) => this.#own?.engine.settled(id),
      },
    };
  }

  get runs(): RunAccess {
    return serverRuns(this.address);
  }

  /** Resolves when an engine answers, of another process or of this one. */
  #reach(): Promise<void> {
    const reach = () =>
      untilFree(HANDOVER_MS, async () => {
        if (!(await this.#address.answers()) && !this.#isClosed) await this.#takeOver();
      });
    this.#reaching ??= reach().finally(() => (this.#reaching = null));
    return this.#reaching;
  }

  async #takeOver(): Promise<void> {
    const { engine, reachable } = (this.#own ??= this.#open());
    await Promise.all(Array.from(this.#followed, (id) => engine.activate(id)));
    await reachable;
  }

  /** Ends only the engine that `#takeOver` has opened; the engine of another process stays open. */
  async close(options: Parameters<LocalEngine["close"]>[0]): Promise<void> {
    this.#isClosed = true;
    // `#reaching` may open an engine just now, which must be closed too. It ends only the sessions of active runs.
    await this.#reaching?.catch(() => {});
    await this.#own?.close(options);
  }

  /** Repeats a request that no engine has read (`UnsentRequest`), or that only reads. */
  readonly #fetch: SocketClient["fetch"] = async (url, init) => {
    for (;;) {
      try {
        return await this.#address.client.fetch(url, init);
      } catch (error) {
        const isRepeatable = error instanceof UnsentRequest || (init?.method ?? "GET") === "GET";
        if (!isRepeatable || this.#isClosed || init?.signal?.aborted) throw error;
        await this.#reach();
      }
    }
  };
}
