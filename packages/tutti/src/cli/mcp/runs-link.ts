// `RunsLink` is the way of `tutti mcp` to the runs: the server of the data folder, else the engine of another process,
// else one of its own. While no run is held it is looked up for each call, so that a server that starts later is found.
import { JoinedEngine } from "../access/joined-engine.ts";
import { EngineAddress } from "../access/engine-address.ts";
import { findAddress } from "../access/find-address.ts";
import type { LiveRun, RunAccess } from "../access/runs.ts";
import { serverRuns, type RunsAddress } from "../access/server-runs.ts";
import type { Output } from "../terminal/output.ts";
import { createClient } from "../../client/client.ts";
import { isRunOver } from "../../schema/status.ts";

export interface LinkedRuns {
  client: ReturnType<typeof createClient>;
  runs: RunAccess;
  /** Aborted when the client has disconnected, so that no call waits for a run any longer. */
  ended: AbortSignal;
  /** Makes the engine act for the run until the run or this process ends. A server does so by itself. */
  hold: (id: string) => Promise<void>;
}

interface OpenLink {
  address: RunsAddress;
  runs: RunAccess;
  close(): Promise<void>;
}

export class RunsLink {
  readonly #output: Output;
  #open: Promise<OpenLink> | null = null;
  #calls = 0;
  readonly #ended = new AbortController();
  readonly #idle = Promise.withResolvers<void>();
  readonly #held = new Map<string, LiveRun>();

  constructor(output: Output) {
    this.#output = output;
  }

  /** `token` is that of the caller. Null gives the rights of the user who started the command. */
  async use<T>(token: string | null, work: (linked: LinkedRuns) => Promise<T>): Promise<T> {
    this.#calls += 1;
    try {
      const link = await (this.#open ??= this.#reach());
      const client = createClient({ ...link.address, ...(token !== null && { token }) });
      const ended = this.#ended.signal;
      return await work({ client, runs: link.runs, ended, hold: (id) => this.#hold(link, id) });
    } finally {
      this.#calls -= 1;
      await this.#closeUnused();
      if (this.#calls === 0 && this.#ended.signal.aborted) this.#idle.resolve();
    }
  }

  /** Resolves when all `#calls` are answered. `#ended` makes those that follow a run return now. */
  async finish(): Promise<void> {
    this.#ended.abort();
    if (this.#calls > 0) await this.#idle.promise;
  }

  async #reach(): Promise<OpenLink> {
    const output = this.#output;
    const server = await findAddress(output);
    if (server) return { address: server, runs: serverRuns(server), close: async () => {} };
    const { openLocalEngine } = await import("../../main/local-engine.ts");
    const warn = (problem: string) => output.warn(problem);
    const engine = new JoinedEngine(new EngineAddress(output.dataDir), () =>
      openLocalEngine({ ...output.options, dataDir: output.dataDir, warn }),
    );
    return { address: engine.address, runs: engine.runs, close: () => engine.close({}) };
  }

  async #hold({ address, runs }: OpenLink, id: string): Promise<void> {
    if (!address.socket || this.#held.has(id)) return;
    const live = await runs.watch(id);
    this.#held.set(id, live);
    const release = async (): Promise<void> => {
      live.close();
      this.#held.delete(id);
      await this.#closeUnused();
    };
    void live
      .until(({ status }) => isRunOver(status))
      .then(() => live.settled())
      // Without its engine the run is interrupted. The next `use` reaches an engine again.
      .catch(() => {})
      .then(release);
    await runs.activate(id);
  }

  async #closeUnused(): Promise<void> {
    if (this.#calls === 0 && this.#held.size === 0) await this.close();
  }

  /** An engine of this process ends its agents; their runs stay resumable. The next `use` opens a new link. */
  async close(): Promise<void> {
    const open = this.#open;
    this.#open = null;
    for (const live of this.#held.values()) live.close();
    this.#held.clear();
    await (await open?.catch(() => null))?.close();
  }
}
