// Agents that write far too much: how long a turn of the engine's event loop takes at most (limit: 50 ms of processor time,
// which a busy machine does not change), and the memory and disk space of the session. The baseline is a run without output.
// Run: npm run bench -- session/large-output
import { mkdirSync, readdirSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { openLocalEngine } from "../../src/main/local-engine.ts";
import { agentOf, Lab } from "../../test/lab/lab.ts";

const LIMIT_MS = 50;
const MEGABYTE = 1_000_000;

interface Measured {
  status: string;
  blockedMs: number;
  rssMb: number;
  diskMb: number;
}

/** The returned function ends the measurement and returns the longest turn of the event loop. */
function watchTurns(): () => number {
  let longest = 0;
  let last = process.threadCpuUsage();
  let isOver = false;
  const turn = () => {
    const { user, system } = process.threadCpuUsage(last);
    longest = Math.max(longest, user + system);
    last = process.threadCpuUsage();
    if (!isOver) setImmediate(turn);
  };
  setImmediate(turn);
  return () => {
    isOver = true;
    return longest / 1000;
  };
}

/** Runs the agent in this process and reads its transcript. `maxOutputMb` is the setting of the user. */
async function measure(agent: string, maxOutputMb: number | null): Promise<Measured> {
  const lab = new Lab();
  try {
    mkdirSync(lab.data, { recursive: true });
    if (maxOutputMb !== null)
      writeFileSync(join(lab.data, "tutti.config.json"), JSON.stringify({ sessions: { maxOutputMb } }));
    const local = openLocalEngine({ dataDir: lab.data });
    const { engine } = local;
    globalThis.gc!();
    const before = process.memoryUsage().rss;
    let peak = before;
    const sampling = setInterval(() => (peak = Math.max(peak, process.memoryUsage().rss)), 50);
    const { id } = await engine.create({ message: "talk", templateId: "documentation", cwd: lab.repo, agent });
    await engine.order(id, "start");
    const longest = watchTurns();
    const run = await engine.until(id, ({ status }) => status === "confirming" || status === "error");
    await engine.transcript(id, run.mainSessionId!, { after: 0, limit: 1000, characters: MEGABYTE });
    if (run.status === "confirming") await engine.order(id, "cancel");
    await engine.until(id, ({ released }) => released);
    const blockedMs = longest();
    clearInterval(sampling);
    const folder = join(lab.data, "sessions", id, run.mainSessionId!);
    const disk = readdirSync(folder).reduce((sum, name) => sum + statSync(join(folder, name)).size, 0);
    await local.close();
    return {
      status: run.status,
      blockedMs,
      rssMb: (peak - before) / MEGABYTE,
      diskMb: disk / MEGABYTE,
    };
  } finally {
    lab.tearDown();
  }
}

const talker = (...numbers: number[]): string => agentOf("command", "talker.ts", ...numbers.map(String));
const cases: [name: string, agent: string, maxOutputMb: number | null][] = [
  ["no output", talker(0, 0, 0), null],
  ["a line of 200 MB", talker(200, 0, 0), 1000],
  ["a line of 200 MB, beyond the limit of 100 MB", talker(200, 0, 0), null],
  ["a million short lines", talker(0, 1_000_000, 0), null],
  ["300,000 messages", talker(0, 0, 300_000), null],
  ["output without end", "command:yes", null],
];
let isFine = true;
for (const [name, agent, maxOutputMb] of cases) {
  const { status, blockedMs, rssMb, diskMb } = await measure(agent, maxOutputMb);
  const share = blockedMs / LIMIT_MS;
  isFine &&= share <= 1;
  console.log(
    `${name}: blocked for at most ${blockedMs.toFixed(0)} ms, ${share.toFixed(2)} of ${LIMIT_MS} ms; ` +
      `${rssMb.toFixed(0)} MB of memory, ${diskMb.toFixed(0)} MB of disk; ${status}`,
  );
}
console.log(`${isFine ? "ok" : "FAIL"}: the event loop is never blocked for more than ${LIMIT_MS} ms`);
if (!isFine) process.exitCode = 1;
