// Measures the hand-off: the time from the last byte of a task's answer to the start of the next task's process, and to
// its prompt, in chains of tasks with a real engine, git and SQLite. The chains with and without a part of the
// preparation take turns, so that the ratios do not depend on the load of the machine. Target: 60 ms to the process.
// Run: npm run bench -- hand-off
import { spawnSync } from "node:child_process";
import { readdirSync, readFileSync, statSync } from "node:fs";
import { loadavg } from "node:os";
import { basename, join } from "node:path";
import { openLocalEngine, type LocalOptions } from "../../src/main/local-engine.ts";
import type { TemplateConfig } from "../../src/schema/template.ts";
import type { KeeperSpec } from "../../src/session/keeper/session-folder.ts";
import { agentOf, Lab } from "../../test/lab/lab.ts";
import { median } from "../protocol/compare.ts";

const ROUNDS = 4;
const CHAIN = 7;
/** Shorter than any real task. While an agent works, the hand-off is prepared. */
const WORK_MS = 1500;
const GOAL_MS = 60;

interface Variant {
  name: string;
  options: Partial<LocalOptions>;
  config?: Partial<TemplateConfig>;
}

const VARIANTS: Variant[] = [
  { name: "nothing prepared", options: { spareKeeper: false, preparesWorkspaces: false } },
  { name: "spare keeper", options: { preparesWorkspaces: false } },
  { name: "spare keeper and workspace", options: {} },
  { name: "workspace and warm session", options: {}, config: { warmSessions: true } },
];

/** Milliseconds between two moments of each hand-off. */
type Waits = Record<"toProcess" | "toPrompt" | "judged" | "decided" | "workspace" | "keeper", number[]>;

async function handOff({ options, config = {} }: Variant): Promise<Waits> {
  const lab = new Lab();
  try {
    const ledger = join(lab.folder, "ledger.txt");
    const local = openLocalEngine({ dataDir: lab.data, agentEnv: { LEDGER: ledger }, ...options });
    const agent = agentOf("command", "timed.ts", String(CHAIN), String(WORK_MS));
    const { engine } = local;
    const request = { message: "a chain", templateId: "documentation", cwd: lab.repo, agent, config };
    const { id } = await engine.create(request);
    await engine.order(id, "start");
    await engine.until(id, ({ status }) => status === "confirming");
    await engine.order(id, "confirm");
    const { status } = await engine.until(id, ({ released }) => released);
    await local.close();
    if (status !== "completed") throw new Error(`the chain is ${status}`);
    const moments = readMoments(lab, ledger);
    /** `before` is 1 if the first event belongs to the previous task. A warm session is opened before it, so its wait is 0. */
    const waits = (from: string, to: string, before: 0 | 1): number[] =>
      Array.from({ length: CHAIN - 1 }, (_, i) =>
        Math.max(0, moments.get(`${to} ${i + 1}`)! - moments.get(`${from} ${i + 1 - before}`)!),
      );
    return {
      toProcess: waits("end", "start", 1),
      toPrompt: waits("end", "prompt", 1),
      judged: waits("end", "worker:completed", 0).slice(0, -1),
      decided: waits("worker:completed", "worker:spawning", 1),
      workspace: waits("worker:spawning", "opened", 0),
      keeper: waits("opened", "start", 0),
    };
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
    if (task !== "main") note(event, task, Number(at));
  }
  return moments;
}

function nodeStart(): number {
  const before = performance.now();
  spawnSync(process.execPath, ["-e", "0"]);
  return performance.now() - before;
}

const load = (): string => loadavg()[0]!.toFixed(1);
console.log(`load at the start: ${load()}`);
const results = VARIANTS.map(() => [] as Waits[]);
const nodes: number[] = [];
for (let round = 0; round < ROUNDS; round += 1) {
  for (const [i, variant] of VARIANTS.entries()) results[i]!.push(await handOff(variant));
  for (let i = 0; i < 3; i += 1) nodes.push(nodeStart());
}
const node = median(nodes);
const of = (waits: readonly Waits[], part: keyof Waits): number[] => waits.flatMap((each) => each[part]);
const first = median(of(results[0]!, "toPrompt"));
for (const [i, { name }] of VARIANTS.entries()) {
  const all = results[i]!;
  const ms = (part: keyof Waits): string => median(of(all, part)).toFixed(0);
  const toProcess = median(of(all, "toProcess"));
  const toPrompt = median(of(all, "toPrompt"));
  console.log(
    `${name}: answer → next process p50 ${toProcess.toFixed(0)} ms, least ${Math.min(...of(all, "toProcess")).toFixed(0)}, ` +
      `${(toProcess / node).toFixed(1)} starts of an empty Node (goal ${GOAL_MS} ms); ` +
      `→ its prompt p50 ${toPrompt.toFixed(0)} ms, ${(toPrompt / first).toFixed(2)} of nothing prepared\n` +
      `  medians: ${ms("judged")} ms until judged, committed and stored, ${ms("decided")} to the decision, ` +
      `${ms("workspace")} for the workspace, ${ms("keeper")} for keeper and agent`,
  );
}
console.log(`load at the end: ${load()}`);
