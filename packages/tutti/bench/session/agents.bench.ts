// Measures the cost of sessions: the engine's memory per living session (target: below 36 KB), the keeper's memory, the
// delay from the answer of a task to the start of the next one, and twenty real Claudes at once.
// Run: npm run bench -- session/agents
import { spawn, spawnSync } from "node:child_process";
import { mkdirSync, readdirSync, readFileSync, statSync } from "node:fs";
import { loadavg } from "node:os";
import { basename, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { isInstalled } from "../../../../scripts/agents.mjs";
import { openLocalEngine } from "../../src/main/local-engine.ts";
import type { KeeperSpec } from "../../src/session/keeper/session-folder.ts";
import type { SessionSignal, SessionSpec } from "../../src/session/session.ts";
import { Conversation } from "../../test/agents/conversation.ts";
import { agentOf, Lab, processesOf } from "../../test/lab/lab.ts";
import { agentEnv } from "../../test/lab/model/agent-env.ts";
import { startModel } from "../../test/lab/model/model-endpoint.ts";
import { playOrders } from "../../test/lab/model/play-orders.ts";
import { pathWith } from "../../test/session/played-program.ts";
import { SessionLab } from "../../test/session/session-lab.ts";
import { median } from "../protocol/compare.ts";

const SESSIONS = 40;
const GOAL_KB = 36;
const CHAIN = 21;
const CLAUDES = 20;

/** Includes the process's share of shared pages (`Pss`). Returns 0 if it has ended. */
function megabytesOf(pid: number): number {
  try {
    const [, kilobytes] = /^Pss:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/smaps_rollup`, "utf8"))!;
    return Number(kilobytes) / 1024;
  } catch {
    return 0;
  }
}

const pidOf = (line: string): number => Number(line.split(" ")[0]);
const percentile = (values: number[], share: number): number =>
  values.toSorted((a, b) => a - b)[Math.ceil(share * values.length) - 1]!;
const seconds = (ms: number): string => (ms / 1000).toFixed(1);
const isReady = ({ type }: SessionSignal): boolean => type === "ready";

/** The smallest of several readings, to exclude garbage that is not collected yet. */
async function heapKilobytes(): Promise<number> {
  const readings: number[] = [];
  for (let i = 0; i < 5; i += 1) {
    await sleep(200);
    globalThis.gc!();
    readings.push(process.memoryUsage().heapUsed / 1024);
  }
  return Math.min(...readings);
}

/**
 * Opens idle sessions in this process. The baseline is measured after their end, not before, because most compiled code
 * and caches appear at the start.
 */
async function engineMemory(): Promise<void> {
  const lab = new SessionLab();
  try {
    const talks: Conversation[] = [];
    for (let i = 0; i < SESSIONS; i += 1) {
      const talk = new Conversation(lab.host.open(lab.spec("command:cat")));
      await talk.until(isReady);
      talks.push(talk);
    }
    const alive = await heapKilobytes();
    await Promise.all(talks.splice(0).map((talk) => talk.end()));
    const each = (alive - (await heapKilobytes())) / SESSIONS;
    console.log(
      `engine: ${each.toFixed(1)} KB for each of ${SESSIONS} live sessions, ${(each / GOAL_KB).toFixed(2)} of ${GOAL_KB} KB`,
    );
  } finally {
    lab.tearDown();
  }
}

async function keeperMemory(): Promise<void> {
  const lab = new SessionLab();
  const bare = spawn(process.execPath, ["-e", "setInterval(() => {}, 1000)"]);
  try {
    await sleep(1500);
    const baseline = megabytesOf(bare.pid!);
    const host = lab.newHost({ agentEnv: { PATH: pathWith("claude", lab.folder) } });
    for (const agent of ["command:cat", "claude"]) {
      const talk = new Conversation(host.open(lab.spec(agent)));
      await talk.until(isReady);
      await sleep(1000);
      const keeper = lab.processes().find((line) => line.includes("keeper"))!;
      const taken = megabytesOf(pidOf(keeper));
      console.log(
        `keeper of ${agent}: ${taken.toFixed(1)} MB, ${(taken / baseline).toFixed(2)} of a Node that does nothing`,
      );
      await talk.end();
    }
  } finally {
    bare.kill();
    lab.tearDown();
  }
}

async function handover(): Promise<void> {
  const lab = new Lab();
  try {
    const ledger = join(lab.folder, "ledger.txt");
    const local = openLocalEngine({ dataDir: lab.data, agentEnv: { LEDGER: ledger } });
    const agent = agentOf("command", "timed.ts", String(CHAIN));
    const { engine } = local;
    const { id } = await engine.create({ message: "a chain", templateId: "documentation", cwd: lab.repo, agent });
    await engine.order(id, "start");
    await engine.until(id, ({ status }) => status === "confirming");
    await engine.order(id, "confirm");
    const { status } = await engine.until(id, ({ released }) => released);
    await local.close();
    if (status !== "completed") throw new Error(`the chain is ${status}`);
    const moments = readMoments(lab, ledger);
    const node = median(Array.from({ length: 5 }, () => nodeStart()));
    /** `before` is 1 if the first event belongs to the previous task. */
    const waits = (from: string, to: string, before: 0 | 1): number[] =>
      Array.from(
        { length: CHAIN - 1 },
        (_, i) => moments.get(`${to} ${i + 1}`)! - moments.get(`${from} ${i + 1 - before}`)!,
      );
    const all = waits("end", "start", 1);
    const [middle, worst] = [percentile(all, 0.5), percentile(all, 0.99)];
    const parts = [
      waits("end", "worker:completed", 0).slice(0, -1),
      waits("worker:completed", "worker:spawning", 1),
      waits("worker:spawning", "opened", 0),
      waits("opened", "start", 0),
    ].map((part) => Math.round(median(part)));
    console.log(
      `answer → start of the next: p50 ${middle.toFixed(0)} ms, p99 ${worst.toFixed(0)} ms over ${all.length}, ` +
        `${(middle / node).toFixed(1)} and ${(worst / node).toFixed(1)} times the start of a Node that does nothing\n` +
        `  of that, medians: ${parts[0]} ms until it is judged, committed and stored, ${parts[1]} ms to the decision, ` +
        `${parts[2]} ms for the workspace, ${parts[3]} ms for keeper and agent`,
    );
  } finally {
    lab.tearDown();
  }
}

/** By event and task number: the agents' own notes, the log, and the times at which sessions were opened. */
function readMoments(lab: Lab, ledger: string): Map<string, number> {
  const moments = new Map<string, number>();
  const note = (event: string, task: string, at: number) =>
    moments.set(`${event} ${Number(task.slice("task_".length))}`, at);
  for (const { type, data, timestamp } of lab.events())
    if ("taskId" in data && typeof data.taskId === "string") note(type, data.taskId, timestamp);
  const sessions = join(lab.data, "sessions");
  for (const name of readdirSync(sessions, { recursive: true, encoding: "utf8" })) {
    if (basename(name) !== "spec.json") continue;
    const { sessionId } = JSON.parse(readFileSync(join(sessions, name), "utf8")) as KeeperSpec;
    const task = /task_\d+/.exec(sessionId)?.[0];
    if (task !== undefined) note("opened", task, statSync(join(sessions, name)).mtimeMs);
  }
  for (const line of readFileSync(ledger, "utf8").trim().split("\n")) {
    const [event = "", task = "", at] = line.split(" ");
    note(event, task, Number(at));
  }
  return moments;
}

function nodeStart(): number {
  const before = performance.now();
  spawnSync(process.execPath, ["-e", "0"]);
  return performance.now() - before;
}

interface ManyClaudes {
  readyMs: number;
  doneMs: number;
  ok: number;
  megabytes: number;
}

async function claudes(count: number): Promise<ManyClaudes> {
  const model = await startModel(playOrders());
  const lab = new SessionLab();
  try {
    const host = lab.newHost({ agentEnv: agentEnv("claude", model, lab.folder) });
    const specs = Array.from({ length: count }, (_, i): SessionSpec => {
      const cwd = join(lab.folder, `workspace-${i}`);
      mkdirSync(cwd);
      return lab.spec("claude", { cwd });
    });
    const begun = performance.now();
    const talks = specs.map((spec) => new Conversation(host.open(spec)));
    await Promise.all(talks.map((talk) => talk.until(isReady)));
    const readyMs = performance.now() - begun;
    const heard = await Promise.all(talks.map((talk) => talk.turn(1, "write page.md\nsay Done.")));
    const doneMs = performance.now() - begun;
    const programs = processesOf(lab.folder).filter((line) => !line.includes("keeper"));
    const megabytes = programs.reduce((sum, line) => sum + megabytesOf(pidOf(line)), 0) / count;
    const ok = heard.filter((turn) =>
      turn.some((signal) => signal.type === "turnOver" && signal.ending.kind === "ended"),
    ).length;
    await Promise.all(talks.map((talk) => talk.end()));
    return { readyMs, doneMs, ok, megabytes };
  } finally {
    lab.tearDown();
    await model.close();
  }
}

async function manyClaudes(): Promise<void> {
  if (!isInstalled())
    return console.log(
      "claude: skipped, because the programs are not installed. Install them with: npm run agents:install",
    );
  const one = await claudes(1);
  const many = await claudes(CLAUDES);
  console.log(
    `${CLAUDES} real Claudes at once: all ready after ${seconds(many.readyMs)} s, all done after ${seconds(many.doneMs)} s, ` +
      `${many.ok} of ${CLAUDES} well, ${many.megabytes.toFixed(0)} MB each; ` +
      `${(many.doneMs / CLAUDES / one.doneMs).toFixed(2)} of the ${seconds(one.doneMs)} s that one alone takes, for each`,
  );
}

const load = (): string => loadavg()[0]!.toFixed(1);
console.log(`load at the start: ${load()}`);
await engineMemory();
await keeperMemory();
await handover();
await manyClaudes();
console.log(`load at the end: ${load()}`);
