// A server or a host of the chaos run, in a process of its own. Its sessions are no-ops, and as with real keepers their turns
// outlive the process: they are lines of a file in its folder.
import { appendFileSync, existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { NoOpHost } from "../lab/no-op/no-op-host.ts";
import { openSimulatedServer, runSimulatedHost, workersOnly } from "../lab/no-op/simulated-fleet.ts";

export interface ChaosPart {
  kind: "server" | "host";
  name: string;
  folder: string;
  url: string;
  leaseMs: number;
  /** Runs that a new server creates, each with as many tasks. */
  runs: number;
  tasks: number;
}

export const TURNS = "turns.log";
const AT_ONCE = 20;
/** Tasks work for up to this time. */
const LONGEST_MS = 400;
const CAPACITY = 8;

const planOf = (tasks: number): object[] =>
  Array.from({ length: tasks }, (_, i) => ({
    id: `t${i}`,
    title: `t${i}`,
    description: "nothing is to be done",
    scope: [`t${i}.md`],
    dependencies: i < AT_ONCE ? [] : [`t${i - AT_ONCE}`],
  }));

export async function playPart(part: ChaosPart): Promise<void> {
  const { kind, name, folder, url, leaseMs, runs, tasks } = part;
  const template = workersOnly(AT_ONCE);
  const sessions = new NoOpHost({
    delimiters: template.prompts.responseFormat,
    plan: planOf(tasks),
    durationMs: () => Math.random() * LONGEST_MS,
    ...turnsIn(join(folder, TURNS)),
  });
  process.once("disconnect", () => process.exit(1));
  if (kind === "host") {
    await runSimulatedHost({ folder, url, name, capacity: CAPACITY, sessions, drain: new AbortController().signal });
    return;
  }
  const { engine, fleet } = await openSimulatedServer({ folder, url, template, sessions, maxWorkers: 200, leaseMs });
  await engine.activateAll();
  if (runs > 0) while (!fleet.hasReadyHost) await new Promise((resolve) => setTimeout(resolve, 100));
  for (let i = 0; i < runs; i++) {
    const { id } = await engine.create({ templateId: "_default", cwd: folder, message: "chaos", agent: "local" });
    await engine.order(id, "start");
    await engine.until(id, ({ status }) => status === "confirming");
    await engine.order(id, "confirm");
  }
  process.send!("ready");
}

function turnsIn(file: string): Pick<ConstructorParameters<typeof NoOpHost>[0], "delivered" | "lastTurn"> {
  const known = new Map<string, number>();
  const lines = existsSync(file) ? readFileSync(file, "utf8").split("\n") : [];
  for (const line of lines) {
    const [session, turn] = line.split(" ");
    if (session && turn) known.set(session, Number(turn));
  }
  return {
    delivered: ({ sessionId }, turn) => appendFileSync(file, `${sessionId} ${turn}\n`),
    lastTurn: ({ sessionId }) => known.get(sessionId) ?? 0,
  };
}
