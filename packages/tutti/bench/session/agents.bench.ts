// Measures the cost of sessions: the engine's memory per living session (target: below 36 KB), the keeper's memory,
// and twenty real Claudes at once.
// Run: npm run bench -- session/agents
import { spawn } from "node:child_process";
import { mkdirSync, readFileSync } from "node:fs";
import { loadavg } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { isInstalled } from "../../../../scripts/agents.mjs";
import type { SessionSignal, SessionSpec } from "../../src/session/session.ts";
import { Conversation } from "../../test/agents/conversation.ts";
import { processesOf } from "../../test/lab/lab.ts";
import { agentEnv } from "../../test/lab/model/agent-env.ts";
import { startModel } from "../../test/lab/model/model-endpoint.ts";
import { playOrders } from "../../test/lab/model/play-orders.ts";
import { pathWith } from "../../test/session/played-program.ts";
import { SessionLab } from "../../test/session/session-lab.ts";

const SESSIONS = 40;
const GOAL_KB = 36;
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
    const received = await Promise.all(talks.map((talk) => talk.turn(1, "write page.md\nsay Done.")));
    const doneMs = performance.now() - begun;
    const programs = processesOf(lab.folder).filter((line) => !line.includes("keeper"));
    const megabytes = programs.reduce((sum, line) => sum + megabytesOf(pidOf(line)), 0) / count;
    const ok = received.filter((turn) =>
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
await manyClaudes();
console.log(`load at the end: ${load()}`);
