// Compares Tutti's engine with other engines and queues: the same graph of no-op tasks, the same cap, every start and
// end durable, in turns on the same machine. Measures the total time, the wait of a task that could start, the stored
// transitions per second, and the cost of a SIGKILL in the middle.
//
// Targets: at most 1 ms from ready to started in the median, and no peer better in any figure. p-graph is not durable,
// so it only shows the cost of the graph itself. A peer that is not available here is listed and skipped.
// Run: npm run bench -- beside, or TUTTI_BENCH_BESIDE="Tutti fleet,Restate" npm run bench -- beside for some of them.
import { closeSync, fdatasyncSync, mkdtempSync, openSync, readFileSync, rmSync, writeSync } from "node:fs";
import { availableParallelism, tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { figuresOf, medians, type Figures, type Recovery } from "./figures.ts";
import { CAP, GRAPH } from "./layered-graph.ts";
import { BUILT_TUTTI } from "./participant.ts";
import { installPeers, versionIn } from "./peer-packages.ts";
import { startPostgres, startRedis, startRestate, type Provided, type Service } from "./services.ts";
import { inPeace, killed, tookPart } from "./start-participant.ts";
import { median } from "../protocol/compare.ts";

const ROUNDS = Number(process.env["TUTTI_BENCH_ROUNDS"] ?? 3);
/** The names of the participants, or null for all. The first one that is measured is the baseline of the ratios. */
const CHOSEN = process.env["TUTTI_BENCH_BESIDE"]?.split(",") ?? null;

interface Entry {
  name: string;
  version: string;
  durability: string;
  url: string;
  isDurable: boolean;
  figures: Figures[];
  recoveries: Recovery[];
}

const entry = (name: string, version: string, durability: string, url = "", isDurable = true): Entry => {
  return { name, version, durability, url, isDurable, figures: [], recoveries: [] };
};

async function entries(folder: string, packages: string | null, stops: (() => Promise<void>)[]): Promise<Entry[]> {
  const found = [
    entry("Tutti", `Node ${process.versions.node}`, "SQLite, WAL, synchronous FULL"),
    entry("p-graph", ownVersion("p-graph"), "none: in memory", "", false),
  ];
  const add = (name: string, provided: Provided, of: string, durability: (service: Service) => string): void => {
    if (typeof provided === "string") return console.log(`skipped: ${name}, because ${provided}`);
    if (!stops.includes(provided.stop)) stops.push(provided.stop);
    found.push(entry(name, versionIn(packages!, of), durability(provided), provided.url));
  };
  const postgres = await startPostgres(join(folder, "postgres"));
  const synchronous = ({ version }: Service): string => `${version}, fsync and synchronous_commit on`;
  if (typeof postgres !== "string") {
    stops.push(postgres.stop);
    const about = `${synchronous(postgres)}; one worker host`;
    found.push(entry("Tutti fleet", `pg-boss ${ownVersion("pg-boss")}`, about, postgres.url));
  }
  if (packages === null) return found;
  const redis = await startRedis(join(folder, "redis"));
  add("BullMQ", redis, "bullmq", ({ version }) => `${version}, appendfsync always; stalled jobs after 1 s`);
  add("pg-boss", postgres, "pg-boss", (service) => `${synchronous(service)}; NOTIFY, heartbeat 10 s`);
  add("DBOS", postgres, "@dbos-inc/dbos-sdk", (service) => `${synchronous(service)}; polled every 20 ms`);
  const restate = await startRestate(join(folder, "restate"), packages);
  add("Restate", restate, "@restatedev/restate-sdk", ({ version }) => `${version}, its log with fsync of the WAL`);
  return found;
}

/** Peers are loaded as they were published, and so is Tutti. */
async function buildTutti(): Promise<void> {
  const build = process.env["TUTTI_BUILD"];
  if (build === undefined) return console.log("Tutti runs from its sources, which takes longer to load");
  const target = join(build, "bench/beside");
  // Participants start with this file, and the bundler would delay their first progress.
  const { bundleProgram } = await import("../../../../scripts/bundle-program.mjs");
  await bundleProgram({ tutti: join(import.meta.dirname, "tutti.ts") }, target);
  process.env[BUILT_TUTTI] = pathToFileURL(join(target, "tutti.cjs")).href;
}

function ownVersion(name: string): string {
  const file = new URL(`../../../../node_modules/${name}/package.json`, import.meta.url);
  return (JSON.parse(readFileSync(file, "utf8")) as { version: string }).version;
}

async function measure(all: readonly Entry[], folder: string, packages: string): Promise<void> {
  for (let round = 0; round < ROUNDS; round++) {
    for (const each of round % 2 === 0 ? all : all.toReversed()) {
      const place = (what: string): string =>
        join(folder, `${what}_${round}_${each.name.replaceAll(/\W/g, "")}`.toLowerCase());
      const setting = { name: each.name, packages, url: each.url };
      try {
        each.figures.push(figuresOf(await inPeace({ ...setting, folder: place("peace") })));
        if (each.isDurable) each.recoveries.push(await killed({ ...setting, folder: place("kill") }));
      } catch (error) {
        console.log(`${each.name}, round ${round + 1}: ${(error as Error).message}`);
      }
    }
  }
}

function show(all: readonly Entry[]): void {
  const measured = all.filter(({ figures }) => figures.length > 0);
  const ours = measured.find(({ name }) => name.startsWith("Tutti"));
  if (!ours) throw new Error("Tutti itself did not finish");
  for (const { name, version, durability } of measured) console.log(`${name} ${version}: ${durability}`);
  const baseline = medians(ours.figures);
  console.log(
    `\n${GRAPH.length} tasks, ${CAP} at a time; medians of ${ROUNDS} rounds, in brackets as a multiple of ${ours.name}`,
  );
  console.log(row("", ["total ms", "ready→start p50", "p99", "with queue p50", "transitions/s"]));
  for (const { name, isDurable, figures } of measured) {
    const { totalMs, p50, p99, queuedP50, transitionsPerSecond } = medians(figures);
    const cells = [
      against(totalMs, baseline.totalMs),
      against(p50, baseline.p50),
      against(p99, baseline.p99),
      against(queuedP50, baseline.queuedP50),
      isDurable ? against(transitionsPerSecond, baseline.transitionsPerSecond) : "not durable",
    ];
    console.log(row(name, cells));
  }
  console.log(
    `  ${ours.name} stores ${number(baseline.storedPerSecond)} events a second; a session is given its task after p50 ${number(baseline.promptedP50)}, p99 ${number(baseline.promptedP99)} ms`,
  );
  const killedOnes = measured.filter(({ recoveries }) => recoveries.length > 0);
  if (!killedOnes.includes(ours)) return;
  const ownRecovery = medians(ours.recoveries);
  console.log(`\nSIGKILL in the middle, then started again; medians, the counts are sums of the rounds`);
  console.log(row("", ["first progress ms", "to the end ms", "finished, run again", "lost"]));
  for (const { name, recoveries } of killedOnes) {
    const { recoveryMs, wholeMs } = medians(recoveries);
    const sum = (of: "again" | "lost"): string => String(recoveries.reduce((all, each) => all + each[of], 0));
    const times = [against(recoveryMs, ownRecovery.recoveryMs), against(wholeMs, ownRecovery.wholeMs)];
    console.log(row(name, [...times, sum("again"), sum("lost")]));
  }
}

const against = (value: number, baseline: number): string => `${number(value)} (${(value / baseline).toFixed(2)})`;
const number = (value: number): string => value.toFixed(value < 10 ? 2 : 0);
const row = (name: string, cells: readonly string[]): string =>
  `  ${name.padEnd(12)}${cells.map((cell) => cell.padStart(20)).join("")}`;

function syncMs(folder: string): number {
  const file = openSync(join(folder, "sync"), "w");
  const times = Array.from({ length: 101 }, () => {
    const from = performance.now();
    writeSync(file, Buffer.alloc(4096, 1));
    fdatasyncSync(file);
    return performance.now() - from;
  });
  closeSync(file);
  return median(times);
}

if (!(await tookPart())) {
  const folder = mkdtempSync(join(tmpdir(), "tutti-beside-"));
  const stops: (() => Promise<void>)[] = [];
  const tidyUp = async (): Promise<void> => {
    for (const stop of stops.splice(0)) await stop();
    rmSync(folder, { recursive: true, force: true });
  };
  // `tidyUp` stops the servers.
  for (const signal of ["SIGINT", "SIGTERM"] as const) {
    process.once(signal, () => void tidyUp().finally(() => process.exit(1)));
  }
  try {
    await buildTutti();
    const peers = installPeers();
    if (typeof peers === "string") console.log(`skipped: every peer except p-graph, because ${peers}`);
    const packages = typeof peers === "string" ? null : peers.folder;
    const provided = await entries(folder, packages, stops);
    const all = provided.filter(({ name }) => CHOSEN === null || CHOSEN.includes(name));
    const before = syncMs(folder);
    await measure(all, folder, packages ?? "");
    const syncs = [before, syncMs(folder)].map((ms) => ms.toFixed(2));
    console.log(`${availableParallelism()} cores; fdatasync of 4 KB: ${syncs[0]} ms before, ${syncs[1]} ms after`);
    show(all);
  } finally {
    await tidyUp();
  }
}
