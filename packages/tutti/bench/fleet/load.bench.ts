// Measures a real PostgreSQL under 200 simulated hosts: its load while they are idle, and the cost of a session. The engine, the
// store, the fleet and the workers are real; sessions and workspaces are no-ops. docs/scale.md computes with these figures.
// Run: npm run bench -- fleet/load
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import pg from "pg";
import { startPostgres } from "../beside/services.ts";
import { isRunOver } from "../../src/schema/status.ts";
import { NoOpHost } from "../../test/lab/no-op/no-op-host.ts";
import { openSimulatedServer, runSimulatedHost, workersOnly } from "../../test/lab/no-op/simulated-fleet.ts";

const HOSTS = 200;
const CAPACITY = 4;
const RUNS = 4;
const TASKS = 20;
const AT_ONCE = 20;
const IDLE_MS = 10_000;
const PATIENCE_MS = 40_000;
/** Clock ticks of the kernel per second. */
const TICKS = 100;

const folder = mkdtempSync(join(tmpdir(), "tutti-load-"));
const postgres = await startPostgres(join(folder, "postgres"), { max_connections: "600" });
if (typeof postgres === "string") {
  console.log(`skipped, because ${postgres}`);
  process.exit();
}
const url = `${postgres.url}/postgres`;
const client = new pg.Client(url);
await client.connect();

interface Sample {
  at: number;
  postgresMs: number;
  nodeMs: number;
  commits: number;
  walBytes: number;
  connections: number;
}

async function sample(): Promise<Sample> {
  const { rows } = await client.query<{ pid: number }>("SELECT pid FROM pg_stat_activity");
  const ticks = rows.map(({ pid }) => {
    const fields = readFileSync(`/proc/${pid}/stat`, "utf8").split(") ")[1]!.split(" ");
    return Number(fields[11]) + Number(fields[12]);
  });
  const state = await client.query<{ commits: number; wal: number }>(
    `SELECT xact_commit::float8 AS commits, pg_wal_lsn_diff(pg_current_wal_lsn(), '0/0')::float8 AS wal
       FROM pg_stat_database WHERE datname = 'postgres'`,
  );
  const { user, system } = process.cpuUsage();
  return {
    at: performance.now(),
    postgresMs: (ticks.reduce((sum, each) => sum + each, 0) * 1000) / TICKS,
    nodeMs: (user + system) / 1000,
    commits: state.rows[0]!.commits,
    walBytes: state.rows[0]!.wal,
    connections: rows.length,
  };
}

const template = workersOnly(AT_ONCE);
const plan = Array.from({ length: TASKS }, (_, i) => ({
  id: `t${i}`,
  title: `t${i}`,
  description: "nothing is to be done",
  scope: [`t${i}.md`],
  dependencies: [],
}));
const sessions = () =>
  new NoOpHost({
    delimiters: template.prompts.responseFormat,
    plan,
    delivered: () => {},
    lastTurn: () => 0,
    durationMs: () => 1000,
  });

const drain = new AbortController();
const server = await openSimulatedServer({
  folder: join(folder, "data"),
  url,
  template,
  sessions: sessions(),
  maxWorkers: HOSTS * CAPACITY,
});
const joined = Array.from({ length: HOSTS }, () => Promise.withResolvers<void>());
const hosting = joined.map(({ resolve }, i) =>
  runSimulatedHost({
    folder: join(folder, `host-${i}`),
    url,
    name: `host-${i}`,
    capacity: CAPACITY,
    sessions: sessions(),
    maxConnections: 1,
    drain: drain.signal,
    onJoined: resolve,
  }),
);
await Promise.all(joined.map(({ promise }) => promise));
const idle = [await sample()];
await sleep(IDLE_MS);
idle.push(await sample());

const { engine } = server;
const ids: string[] = [];
for (let i = 0; i < RUNS; i++) {
  const { id } = await engine.create({ templateId: "_default", cwd: folder, message: "load", agent: "local" });
  await engine.order(id, "start");
  ids.push(id);
}
await Promise.all(ids.map((id) => engine.until(id, ({ status }) => status === "confirming")));
const busy = [await sample()];
const patience = new AbortController();
await Promise.all(ids.map((id) => engine.order(id, "confirm")));
await Promise.race([
  Promise.all(ids.map((id) => engine.until(id, ({ status }) => isRunOver(status)))),
  sleep(PATIENCE_MS, null, { signal: patience.signal }).catch(() => {}),
]);
patience.abort();
busy.push(await sample());

const done = ids.map(
  (id) => Object.values(engine.get(id)!.workers).filter(({ status }) => status === "completed").length,
);
const completed = done.reduce((sum, each) => sum + each, 0);
const rate = ([from, to]: Sample[], of: keyof Sample): number => to![of] - from![of];
const seconds = (samples: Sample[]): number => rate(samples, "at") / 1000;
const perHost = (of: keyof Sample): number => rate(idle, of) / seconds(idle) / HOSTS;
console.log(`${HOSTS} hosts, ${idle[0]!.connections} connections`);
console.log(
  `idle, per host and second: ${perHost("commits").toFixed(2)} transactions, ${perHost("postgresMs").toFixed(2)} ms of PostgreSQL`,
);
// The idle load goes on beside the sessions.
const perTask = (of: keyof Sample): number =>
  (rate(busy, of) - (rate(idle, of) / seconds(idle)) * seconds(busy)) / Math.max(1, completed);
console.log(
  `${completed} of ${RUNS * TASKS} sessions in ${seconds(busy).toFixed(1)} s (${(completed / seconds(busy)).toFixed(0)} a second)`,
);
console.log(
  `per session: ${perTask("commits").toFixed(0)} transactions, ${perTask("postgresMs").toFixed(1)} ms of PostgreSQL, ${perTask("nodeMs").toFixed(1)} ms of server and hosts, ${(perTask("walBytes") / 1024).toFixed(0)} KB of WAL`,
);
drain.abort();
await server.close();
await Promise.allSettled(hosting);
await client.end();
await postgres.stop();
rmSync(folder, { recursive: true, force: true });
process.exit();
