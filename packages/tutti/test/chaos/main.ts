// A chaos run over one PostgreSQL: two servers and four hosts work on many tasks while they are killed, frozen and cut off from
// the network, and while PostgreSQL crashes. Fails unless every task completed exactly once and nothing is left open.
//
//   node packages/tutti/test/chaos/main.ts --tasks 1000
import { fork, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { parseArgs } from "node:util";
import { playPart, TURNS, type ChaosPart } from "./chaos-part.ts";
import { openNetwork, type CutNetwork } from "../lab/cut-network.ts";
import { newCluster, POSTGRES, query } from "../lab/postgres.ts";
import { findOrInstall } from "../lab/required-program.ts";
import { Random } from "../sim/random.ts";

const RUNS_PER_SERVER = 2;
const SERVERS = ["server-1", "server-2"];
const HOSTS = ["host-1", "host-2", "host-3", "host-4"];
/** The network of this host can be cut. */
const CUT_HOST = HOSTS[0]!;
const LEASE_MS = 4000;
/** The rest of the tasks completes in peace. */
const CHAOS_SHARE = 0.9;
const RESTART_MS = 1000;
const PATIENCE_MS = 20 * 60_000;

const { values } = parseArgs({
  options: { tasks: { type: "string", default: "1000" }, part: { type: "string" } },
});

class Chaos {
  readonly #folder = mkdtempSync(join(tmpdir(), "tutti-chaos-"));
  readonly #cluster = newCluster();
  readonly #url = this.#cluster.url("postgres");
  readonly #network: CutNetwork | string = openNetwork();
  readonly #children = new Map<string, ChildProcess>();
  readonly #busy = new Set<string>();
  readonly #tasks: number;
  readonly #seed = Number(process.env["TUTTI_TEST_SEED"] ?? Date.now() % 1_000_000);
  readonly #random = new Random(String(this.#seed));
  readonly #done: Record<string, number> = {};
  #address = "";
  #isEnding = false;

  constructor(tasks: number) {
    this.#tasks = Math.ceil(tasks / (SERVERS.length * RUNS_PER_SERVER));
  }

  get #total(): number {
    return this.#tasks * SERVERS.length * RUNS_PER_SERVER;
  }

  async run(): Promise<boolean> {
    console.log(`TUTTI_TEST_SEED=${this.#seed}; ${this.#total} tasks`);
    if (typeof this.#network === "string") console.log(`no network is cut: ${this.#network}`);
    this.#cluster.start();
    try {
      if (typeof this.#network !== "string")
        this.#address = await this.#network.forward(join(this.#cluster.folder, ".s.PGSQL.5432"));
      // The first server creates the tables.
      const created = this.#start(SERVERS[0]!, RUNS_PER_SERVER);
      for (const host of HOSTS) void this.#start(host, 0);
      await created;
      await this.#start(SERVERS[1]!, RUNS_PER_SERVER);
      const from = performance.now();
      await this.#disturb();
      await this.#untilOver(from);
      return await this.#judge(from);
    } finally {
      await this.#end();
    }
  }

  /** Resolves when a server has created its runs. */
  async #start(name: string, runs: number): Promise<void> {
    const folder = join(this.#folder, name);
    mkdirSync(folder, { recursive: true });
    const isServer = SERVERS.includes(name);
    const isCut = name === CUT_HOST && typeof this.#network !== "string";
    const part: ChaosPart = {
      kind: isServer ? "server" : "host",
      name,
      folder,
      url: isCut ? `postgres://tutti@${this.#address}/postgres` : this.#url,
      leaseMs: LEASE_MS,
      runs,
      tasks: this.#tasks,
    };
    const args = ["--part", JSON.stringify(part)];
    const options = { stdio: ["ignore", "inherit", "ignore", "ipc"] as ("ignore" | "inherit" | "ipc")[] };
    const child = isCut
      ? fork(import.meta.filename, args, { ...options, ...startedBy(this.#network) })
      : fork(import.meta.filename, args, options);
    this.#children.set(name, child);
    // A part that starts while the database is away ends. As with any service, something starts it again.
    child.once("exit", (code) => {
      if (code !== null && !this.#isEnding) setTimeout(() => void this.#start(name, 0), RESTART_MS);
    });
    if (isServer) await Promise.race([once(child, "message"), once(child, "exit")]);
  }

  async #disturb(): Promise<void> {
    while ((await this.#completed()) < CHAOS_SHARE * this.#total) {
      await sleep(this.#random.int(300, 1500));
      const acts: [string, () => Promise<void>][] = [
        ["server killed", () => this.#kill(this.#random.pick(SERVERS))],
        ["host killed", () => this.#kill(this.#random.pick(HOSTS))],
        ["server frozen", () => this.#freeze(this.#random.pick(SERVERS))],
        ["host frozen", () => this.#freeze(this.#random.pick(HOSTS))],
        ["network cut", () => this.#cut()],
        ["database crashed", () => this.#crash()],
      ];
      const [name, act] = this.#random.pick(acts);
      this.#done[name] = (this.#done[name] ?? 0) + 1;
      await act();
    }
  }

  /** A part that is disturbed in the background is left alone meanwhile. */
  #occupy(name: string, work: () => Promise<void>): void {
    if (this.#busy.has(name)) return;
    this.#busy.add(name);
    void work().finally(() => this.#busy.delete(name));
  }

  async #kill(name: string): Promise<void> {
    this.#occupy(name, async () => {
      const child = this.#children.get(name)!;
      const gone = once(child, "exit");
      child.kill("SIGKILL");
      await gone;
      await sleep(this.#random.int(0, 2 * LEASE_MS));
      await this.#start(name, 0);
    });
  }

  async #freeze(name: string): Promise<void> {
    this.#occupy(name, async () => {
      const child = this.#children.get(name)!;
      child.kill("SIGSTOP");
      await sleep(this.#random.int(500, 3 * LEASE_MS));
      child.kill("SIGCONT");
    });
  }

  async #cut(): Promise<void> {
    const network = this.#network;
    if (typeof network === "string") return;
    this.#occupy("network", async () => {
      network.cut();
      await sleep(this.#random.int(500, 3 * LEASE_MS));
      network.mend();
    });
  }

  async #crash(): Promise<void> {
    this.#cluster.stop();
    await sleep(this.#random.int(0, 1000));
    this.#cluster.start();
  }

  async #completed(): Promise<number> {
    const rows = await query<{ done: number }>(
      this.#url,
      "SELECT count(*)::int AS done FROM tutti.events WHERE type = 'worker:completed'",
    ).catch(() => []);
    return rows[0]?.done ?? 0;
  }

  async #untilOver(from: number): Promise<void> {
    const open = `SELECT (SELECT count(*)::int FROM tutti.runs WHERE run <> '') -
                         (SELECT count(*)::int FROM tutti.events WHERE type = 'workspace:released') AS open`;
    while (performance.now() - from < PATIENCE_MS) {
      const rows = await query<{ open: number }>(this.#url, open).catch(() => []);
      if (rows[0]?.open === 0) return;
      await sleep(500);
    }
    console.log(`not over after ${PATIENCE_MS / 1000} s`);
  }

  async #judge(from: number): Promise<boolean> {
    const seconds = ((performance.now() - from) / 1000).toFixed(0);
    const count = async (text: string): Promise<number> =>
      (await query<{ n: number }>(this.#url, `SELECT count(*)::int AS n FROM ${text}`))[0]!.n;
    const tasks =
      "(SELECT run, data::jsonb->>'taskId' AS task, count(*) AS n FROM tutti.events WHERE type = 'worker:completed' GROUP BY 1, 2) t";
    const figures = {
      completed: await count(tasks),
      doubled: await count(`${tasks} WHERE n > 1`),
      attempts: await count("tutti.events WHERE type = 'worker:spawning'"),
      lost: await count("tutti.events WHERE type = 'worker:lost'"),
      failed: await count("tutti.events WHERE type IN ('worker:failed', 'worker:timeout')"),
      runs: await count("tutti.events WHERE type = 'orchestrator:completed'"),
      gaps: (await query<{ n: number }>(this.#url, "SELECT (max(seq) - count(*))::int AS n FROM tutti.events"))[0]!.n,
      open: await this.#leftOpen(),
      workedTwice: this.#workedTwice(),
    };
    console.log(
      `${seconds} s; ${Object.entries(this.#done)
        .map(([name, n]) => `${n} ${name}`)
        .join(", ")}`,
    );
    console.log(
      Object.entries(figures)
        .map(([name, n]) => `${name} ${n}`)
        .join(", "),
    );
    const { completed, doubled, gaps, open, workedTwice, runs, failed } = figures;
    const isRight = completed === this.#total && runs === SERVERS.length * RUNS_PER_SERVER;
    return isRight && doubled + gaps + open + workedTwice + failed === 0;
  }

  /** Attempts that are not over, after the time in which a server ends them. */
  async #leftOpen(): Promise<number> {
    const text = "SELECT count(*)::int AS n FROM tutti_hosts.attempt WHERE state IN ('waiting', 'held')";
    for (let i = 0; ; i++) {
      const [{ n }] = (await query<{ n: number }>(this.#url, text)) as [{ n: number }];
      if (n === 0 || i === 60) return n;
      await sleep(500);
    }
  }

  /** Turns of an attempt that two processes worked on. */
  #workedTwice(): number {
    const lines = [...SERVERS, ...HOSTS].flatMap((name) => {
      const file = join(this.#folder, name, TURNS);
      return existsSync(file)
        ? readFileSync(file, "utf8")
            .split("\n")
            .filter((line) => line.includes("worker"))
        : [];
    });
    return lines.length - new Set(lines).size;
  }

  async #end(): Promise<void> {
    this.#isEnding = true;
    for (const child of this.#children.values()) {
      if (child.exitCode !== null || child.signalCode !== null) continue;
      const gone = once(child, "exit");
      child.kill("SIGKILL");
      await gone;
    }
    if (typeof this.#network !== "string") this.#network.remove();
    this.#cluster.stop();
    for (const folder of [this.#folder, this.#cluster.folder]) rmSync(folder, { recursive: true, force: true });
  }
}

const startedBy = ({ via }: CutNetwork) => ({ execPath: via[0]!, execArgv: [...via.slice(1), process.execPath] });

if (values.part !== undefined) await playPart(JSON.parse(values.part) as ChaosPart);
else if (findOrInstall(POSTGRES) === null) console.log(POSTGRES.advice);
else {
  const isRight = await new Chaos(Number(values.tasks)).run();
  console.log(isRight ? "all tasks are accounted for" : "FAILED");
  process.exit(isRight ? 0 : 1);
}
