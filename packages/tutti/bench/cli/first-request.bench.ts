// Measures `tutti run`: the time from the start of the command to the first prompt that the agent receives, compared with
// the agent's own start. Target: the agent's own start plus 100 ms.
// Run: npm run bench -- first-request
import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { existsSync, readFileSync } from "node:fs";
import { loadavg } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { Lab, LAUNCHER } from "../../test/lab/lab.ts";
import { programOf } from "../../test/lab/program-of.ts";
import { median } from "../protocol/compare.ts";

const ROUNDS = 9;
const GOAL_MS = 100;

/** The moment at which the main session, or an agent alone, received its prompt. */
async function promptedAt(ledger: string, child: ChildProcess): Promise<number> {
  for (;;) {
    const [, at] = (existsSync(ledger) && /^prompt main (\d+)$/m.exec(readFileSync(ledger, "utf8"))) || [];
    if (at !== undefined) return Number(at);
    if (child.exitCode !== null) throw new Error(`the process ended with ${child.exitCode} before its prompt`);
    await sleep(5);
  }
}

async function ofRun(): Promise<number> {
  const lab = new Lab();
  try {
    const ledger = join(lab.folder, "ledger.txt");
    const agent = `command:${process.execPath} ${programOf("timed.ts")} 1 0`;
    const args = [LAUNCHER, "--data-dir", lab.data, "run", "a request", "--yes", "--cwd", lab.repo, "--agent", agent];
    const since = Date.now();
    const run = spawn(process.execPath, [...args, "--agent-env", `LEDGER=${ledger}`], { stdio: "ignore" });
    const took = (await promptedAt(ledger, run)) - since;
    if (run.exitCode === null) await once(run, "exit");
    return took;
  } finally {
    lab.tearDown();
  }
}

async function ofAgent(): Promise<number> {
  const lab = new Lab();
  try {
    const ledger = join(lab.folder, "ledger.txt");
    const since = Date.now();
    const agent = spawn(process.execPath, [programOf("timed.ts"), "1", "0"], {
      stdio: ["pipe", "ignore", "ignore"],
      env: { ...process.env, LEDGER: ledger },
    });
    agent.stdin.end(`${JSON.stringify({ type: "user", phase: "analysis" })}\n`);
    const took = (await promptedAt(ledger, agent)) - since;
    if (agent.exitCode === null) await once(agent, "exit");
    return took;
  } finally {
    lab.tearDown();
  }
}

console.log(`load: ${loadavg()[0]!.toFixed(1)}`);
const runs: number[] = [];
const agents: number[] = [];
for (let round = 0; round < ROUNDS; round += 1) {
  runs.push(await ofRun());
  agents.push(await ofAgent());
}
const [run, agent] = [median(runs), median(agents)];
console.log(
  `tutti run → first prompt: p50 ${run} ms, least ${Math.min(...runs)}; the agent's own start: p50 ${agent} ms, least ${Math.min(...agents)}\n` +
    `Tutti's share: ${run - agent} ms (goal ${GOAL_MS}), ${(run / agent).toFixed(1)} times the agent's own start`,
);
