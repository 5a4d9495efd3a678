// An engine over a database, a bare remote of its repository, and worker hosts as processes.
import { spawnSync, type ChildProcess } from "node:child_process";
import { join } from "node:path";
import { Lab, finished, type Finished } from "../lab/lab.ts";
import { newDatabase } from "../lab/postgres.ts";
import { openHeldStore } from "../../src/main/held-store.ts";
import { openEngine, type OpenEngine } from "../../src/main/open-engine.ts";

export interface StartedWorker {
  process: ChildProcess;
  ended: Promise<Finished>;
}

/** Longer than any test, so that a busy machine costs no lease. */
const LEASE_MS = 600_000;

export class FleetLab extends Lab {
  readonly remote = join(this.folder, "remote.git");
  readonly #workers: ChildProcess[] = [];
  #local: OpenEngine | null = null;
  url = "";

  async begin(): Promise<OpenEngine> {
    const cloned = spawnSync("git", ["clone", "-q", "--bare", this.repo, this.remote]);
    if (cloned.status !== 0) throw new Error(String(cloned.stderr));
    this.git("remote", "add", "origin", this.remote);
    this.url = await newDatabase();
    return this.openServer();
  }

  async openServer(): Promise<OpenEngine> {
    const held = await openHeldStore(this.data, this.url, { leaseMs: LEASE_MS });
    return (this.#local = openEngine({ dataDir: this.data, held }));
  }

  async closeServer(): Promise<void> {
    await this.#local?.close();
    this.#local = null;
  }

  /** Starts a worker and waits until it has joined. */
  async worker(name: string, args: string[] = [], url = this.url): Promise<StartedWorker> {
    const started = this.start(["--data-dir", join(this.folder, name), "worker", "--database-url", url, ...args]);
    this.#workers.push(started);
    const ended = finished(started);
    const joined = new Promise<void>((resolve) => {
      started.stdout!.on("data", (chunk: Buffer) => {
        if (chunk.toString().includes("ready as")) resolve();
      });
    });
    const early = ended.then(({ code, stderr }) => {
      throw new Error(`The worker ended with ${code}: ${stderr}`);
    });
    early.catch(() => {});
    await Promise.race([joined, early]);
    return { process: started, ended };
  }

  async end(): Promise<void> {
    await this.closeServer();
    for (const worker of this.#workers) {
      if (worker.exitCode !== null || worker.signalCode !== null) continue;
      const gone = new Promise((resolve) => worker.once("exit", resolve));
      worker.kill("SIGKILL");
      await gone;
    }
    this.tearDown();
  }
}
