// A long soak of `tutti serve`: thousands of sessions on one server, with samples of everything that could grow. Prints a
// row per sample and, for each figure, the growth per 1,000 sessions after a warm-up; fails if one grows too much.
//
//   node packages/tutti/test/soak/main.ts --sessions 2000
//   node packages/tutti/test/soak/main.ts --sessions 1000 --leak 10     fails: the server leaks 10 KB per session
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { createClient } from "../../src/client/client.ts";
import { goodWorker, mainSession } from "../lab/scenarios.ts";

const TASKS = 9;
const SESSIONS_PER_RUN = TASKS + 1;
const AT_ONCE = 2;
const SAMPLES = 20;
/** This part of the samples comes before caches are full and code is compiled. */
const WARM_UP = 0.3;

/**
 * The growth per 1,000 sessions that is accepted. A removed event keeps its place in the log, which is about 4 kB per
 * session on disk. Branches and refs of a run stay by design, so they are only printed.
 */
const LIMITS = { rssMb: 15, heapMb: 5, files: 5, processes: 1, worktrees: 0, diskMb: 5 };

/** A smaller growth over all samples is noise. */
const NOISE = { rssMb: 20, heapMb: 2, files: 4, processes: 0, worktrees: 0, diskMb: 1 };

type Sample = Record<keyof typeof LIMITS | "sessions" | "refs", number>;

const { values } = parseArgs({
  options: { sessions: { type: "string", default: "2000" }, leak: { type: "string", default: "0" } },
});
const runs = Math.ceil(Number(values.sessions) / SESSIONS_PER_RUN);

const folder = mkdtempSync(join(tmpdir(), "tutti-soak-"));
const [repo, data] = [join(folder, "repo"), join(folder, "data")];
const git = (...args: string[]): string =>
  spawnSync("git", ["-C", repo, "-c", "user.name=Soak", "-c", "user.email=soak@example.org", ...args], {
    encoding: "utf8",
  }).stdout;
spawnSync("git", ["init", "--quiet", repo]);
writeFileSync(join(repo, "README.md"), "# Soak\n");
git("add", ".");
git("commit", "--quiet", "--message", "First");
const scenario = join(folder, "scenario.json");
const tasks = Array.from({ length: TASKS }, (_, i) => ({ id: `t${i}`, dependencies: i > 2 ? [`t${i - 3}`] : [] }));
writeFileSync(scenario, JSON.stringify({ sessions: [...mainSession(tasks), goodWorker] }));

const program = fileURLToPath(new URL("../../bin/tutti.js", import.meta.url));
/** Keeps memory for each new run in the server. */
const leak = `import { subscribe } from "node:diagnostics_channel";
  const kept = [];
  subscribe("http.server.request.start", ({ request: { method, url } }) => {
    if (method !== "POST" || !/^\\/api\\/(runs|orchestrator)$/.test(url)) return;
    for (let i = 0; i < ${Number(values.leak) * SESSIONS_PER_RUN}; i++) kept.push(Array.from({ length: 126 }, () => i));
  });`;
const nodeFlags = ["--trace-gc", "--import", `data:text/javascript,${encodeURIComponent(leak)}`];
const server = spawn(
  process.execPath,
  [...nodeFlags, program, "serve", "--port", "0", "--data-dir", data, "--log-level", "error"],
  { stdio: ["ignore", "pipe", "inherit"] },
);
/** The live objects in MB, which `rssMb` shows late: the least heap after V8's own collections since a sample. */
let heapMb = Number.POSITIVE_INFINITY;
const lines = createInterface({ input: server.stdout });
lines.on("line", (text) => {
  const collected = / Mark-Compact .*? -> ([\d.]+) /.exec(text);
  if (collected) heapMb = Math.min(heapMb, Number(collected[1]));
});
for (const signal of ["SIGINT", "SIGTERM"] as const) {
  process.once(signal, () => {
    server.kill("SIGTERM");
    rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
    process.exit(1);
  });
}
try {
  let address: RegExpExecArray | null = null;
  while (address === null) address = /http:\S+/.exec(((await once(lines, "line")) as [string])[0]);
  const url = new URL(address[0]);
  const client = createClient({ baseUrl: url.origin, token: url.searchParams.get("token")! });

  const runOnce = async (): Promise<void> => {
    const { orchestratorId: id } = await client.create({
      templateId: "documentation",
      cwd: repo,
      message: "write it down",
      agent: `script:${scenario}`,
      autoStart: true,
      config: { autoSpawn: true },
    });
    for (;;) {
      const { status, outcome } = await client.get(id);
      if (status === "completed" && outcome !== "success") throw new Error(`Run ${id} ended with ${outcome}.`);
      if (status === "completed") break;
      if (status === "error" || status === "cancelled") throw new Error(`Run ${id} is ${status}.`);
      await sleep(50);
    }
    await client.call("DELETE /api/orchestrator/:id", {
      params: { id },
      body: { archiveWorkers: false, deleteWorkers: true },
    });
  };

  const samples: Sample[] = [];
  const perSample = Math.max(1, Math.floor(runs / SAMPLES));
  for (let done = 0; done < runs;) {
    const group = Math.min(perSample, runs - done);
    const queue = Array.from({ length: group }, (_, i) => i);
    await Promise.all(
      Array.from({ length: AT_ONCE }, async () => {
        while (queue.pop() !== undefined) await runOnce();
      }),
    );
    done += group;
    samples.push(await sampleAtRest(done * SESSIONS_PER_RUN, samples.at(-1)));
    console.log(
      Object.entries(samples.at(-1)!)
        .map(([name, value]) => `${name} ${value}`)
        .join("  "),
    );
  }
  process.exitCode = report(samples);
} finally {
  server.kill("SIGTERM");
  if (server.exitCode === null) await once(server, "exit");
  rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
}

/** Keepers exit a moment after their sessions, so the sample waits until there is none, at most ten seconds. */
async function sampleAtRest(sessions: number, last: Sample | undefined): Promise<Sample> {
  for (let i = 0; i < 100 && childrenOf(server.pid!) > 0; i++) await sleep(100);
  const status = readFileSync(`/proc/${server.pid}/status`, "utf8");
  const heap = Number.isFinite(heapMb) ? heapMb : (last?.heapMb ?? 0);
  heapMb = Number.POSITIVE_INFINITY;
  return {
    sessions,
    heapMb: heap,
    rssMb: Math.round(Number(/VmRSS:\s+(\d+)/.exec(status)![1]) / 1024),
    files: readdirSync(`/proc/${server.pid}/fd`).length,
    processes: childrenOf(server.pid!) + keepersOf(data),
    worktrees: git("worktree", "list").trim().split("\n").length - 1,
    refs: git("for-each-ref").trim().split("\n").length,
    diskMb: Math.round(sizeOf(data) / 1024 / 102.4) / 10,
  };
}

function childrenOf(pid: number): number {
  const file = `/proc/${pid}/task/${pid}/children`;
  return existsSync(file) ? readFileSync(file, "utf8").trim().split(" ").filter(Boolean).length : 0;
}

/** Counts the processes of sessions of this data folder, also those that the server did not start. */
function keepersOf(dataDir: string): number {
  return readdirSync("/proc").filter((pid) => {
    if (!/^\d+$/.test(pid) || Number(pid) === server.pid || Number(pid) === process.pid) return false;
    try {
      return readFileSync(`/proc/${pid}/cmdline`, "utf8").includes(dataDir);
    } catch {
      // The process has ended.
      return false;
    }
  }).length;
}

function sizeOf(path: string): number {
  return readdirSync(path, { recursive: true, encoding: "utf8" }).reduce((sum, name) => {
    const stats = statSync(join(path, name), { throwIfNoEntry: false });
    return sum + (stats?.isFile() ? stats.size : 0);
  }, 0);
}

function report(samples: readonly Sample[]): number {
  const settled = samples.slice(Math.floor(samples.length * WARM_UP));
  let failed = 0;
  for (const [name, limit] of Object.entries(LIMITS) as [keyof typeof LIMITS, number][]) {
    const slope = slopeOf(settled.map((sample) => [sample.sessions, sample[name]]));
    const growth = slope * 1000;
    const total = slope * (settled.at(-1)!.sessions - settled[0]!.sessions);
    const isFine = growth <= limit || total <= NOISE[name];
    if (!isFine) failed += 1;
    console.log(`${isFine ? "ok  " : "FAIL"} ${name}: ${growth.toFixed(2)} per 1,000 sessions (limit ${limit})`);
  }
  console.log(`${Object.keys(LIMITS).length - failed} passed, ${failed} failed`);
  return failed === 0 ? 0 : 1;
}

/** The slope of the line of least squares. */
function slopeOf(points: readonly (readonly [number, number])[]): number {
  const mean = (values: readonly number[]): number => values.reduce((sum, value) => sum + value, 0) / values.length;
  const [x, y] = [mean(points.map(([at]) => at)), mean(points.map(([, value]) => value))];
  const spread = points.reduce((sum, [at]) => sum + (at - x) ** 2, 0);
  return spread === 0 ? 0 : points.reduce((sum, [at, value]) => sum + (at - x) * (value - y), 0) / spread;
}
