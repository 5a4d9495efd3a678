// An engine over a database, a bare remote of its repository, and worker hosts as processes.
import { spawnSync, type ChildProcess } from "node:child_process";
import { chmodSync, globSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect } from "vitest";
import { Lab, finished, type Finished } from "../lab/lab.ts";
import { newDatabase, query } from "../lab/postgres.ts";
import { openHeldStore } from "../../src/main/held-store.ts";
import { openEngine, type OpenEngine } from "../../src/main/open-engine.ts";

export interface StartedWorker {
  /** The id of its host. */
  id: string;
  process: ChildProcess;
  ended: Promise<Finished>;
}

/** Longer than any test, so that a busy machine costs no lease. */
const LEASE_MS = 600_000;

export class FleetLab extends Lab {
  readonly remote = join(this.folder, "remote.git");
  readonly #workers: ChildProcess[] = [];
  readonly #servers = new Set<OpenEngine>();
  url = "";

  async begin(url?: string): Promise<OpenEngine> {
    const cloned = spawnSync("git", ["clone", "-q", "--bare", this.repo, this.remote]);
    if (cloned.status !== 0) throw new Error(String(cloned.stderr));
    this.git("remote", "add", "origin", this.remote);
    this.url = url ?? (await newDatabase());
    return this.openServer();
  }

  remoteGit(...args: string[]): string {
    return spawnSync("git", ["-C", this.remote, ...args], { encoding: "utf8" }).stdout.trim();
  }

  async openServer(dataDir = this.data): Promise<OpenEngine> {
    const held = await openHeldStore(dataDir, this.url, { leaseMs: LEASE_MS });
    const server = openEngine({ dataDir, held });
    this.#servers.add(server);
    return server;
  }

  async closeServer(...closed: OpenEngine[]): Promise<void> {
    for (const server of closed.length > 0 ? closed : this.#servers) {
      this.#servers.delete(server);
      await server.close();
    }
  }

  /** The repository becomes another clone of the remote, as on another machine. */
  replaceRepository(): void {
    renameSync(this.repo, `${this.repo}.before`);
    // `--no-local`: a copy of all objects would contain commits that no branch of the remote has.
    const cloned = spawnSync("git", ["clone", "-q", "--no-local", this.remote, this.repo]);
    if (cloned.status !== 0) throw new Error(String(cloned.stderr));
  }

  /** The remote rejects all pushes from now on. */
  rejectPushes(): void {
    const hook = join(this.remote, "hooks", "pre-receive");
    writeFileSync(hook, "#!/bin/sh\nexit 1\n");
    chmodSync(hook, 0o755);
  }

  /** Starts a run and confirms its plan. */
  async startRun({ engine }: OpenEngine, agent: string, templateId = "_default"): Promise<string> {
    const { id } = await engine.create({ templateId, message: "Do it", cwd: this.repo, agent });
    await engine.order(id, "start");
    await engine.until(id, (run) => run.status === "confirming");
    await engine.order(id, "confirm");
    return id;
  }

  /** From now on, the names of requests are kept, which a server deletes with its attempt. */
  async recordRequests(): Promise<void> {
    const statements = [
      "CREATE TABLE public.requested (n bigint, key text, name text)",
      `CREATE FUNCTION public.record_request() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
         INSERT INTO public.requested VALUES (NEW.n, NEW.key, NEW.name);
         RETURN NULL;
       END $$`,
      "CREATE TRIGGER recorded AFTER INSERT ON tutti_hosts.request FOR EACH ROW EXECUTE FUNCTION public.record_request()",
    ];
    for (const statement of statements) await query(this.url, statement);
  }

  /** The names of all requests of the attempt since `recordRequests`, in their order. */
  async recordedRequests(key: string): Promise<string[]> {
    const text = "SELECT name FROM public.requested WHERE key = $1 ORDER BY n";
    return (await query<{ name: string }>(this.url, text, [key])).map(({ name }) => name);
  }

  /** Resolves when the hosts of these tasks have their first turns. The log has the turn before its host. */
  async untilDelivered(tasks: readonly string[]): Promise<void> {
    const delivered = `SELECT 1 FROM tutti_hosts.request JOIN tutti_hosts.attempt USING (key)
                        WHERE task = ANY($1) AND name = 'turn 1' AND reply IS NOT NULL`;
    await expect.poll(async () => (await query(this.url, delivered, [tasks])).length).toBe(tasks.length);
  }

  /** Resolves when the agent of a host has written the file in its workspace. */
  async untilWritten(host: string, file: string): Promise<void> {
    const pattern = join(this.folder, host, "worker", "worktrees", "**", file);
    await expect.poll(() => globSync(pattern).length).toBeGreaterThan(0);
  }

  /** The lease of a host passes at once. */
  async expireLease(host: string): Promise<void> {
    await query(this.url, "UPDATE tutti_hosts.host SET seen_at = seen_at - interval '1 day' WHERE id = $1", [host]);
  }

  /** Starts a worker and waits until it has joined. */
  async worker(name: string, args: string[] = [], url = this.url, via: string[] = []): Promise<StartedWorker> {
    const command = ["--data-dir", join(this.folder, name), "worker", "--database-url", url, ...args];
    const started = this.start(command, {}, via);
    this.#workers.push(started);
    const ended = finished(started);
    let printed = "";
    const joined = new Promise<string>((resolve) => {
      started.stdout!.on("data", (chunk: Buffer) => {
        printed += chunk.toString();
        const id = /ready as .*\((.*)\)/.exec(printed)?.[1];
        if (id !== undefined) resolve(id);
      });
    });
    const early = ended.then(({ code, stderr }) => {
      throw new Error(`The worker ended with ${code}: ${stderr}`);
    });
    early.catch(() => {});
    return { id: await Promise.race([joined, early]), process: started, ended };
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
