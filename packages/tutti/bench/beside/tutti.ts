// Tutti's engine with no-op sessions and workspaces: alone with its SQLite store, and over PostgreSQL with a worker host.
import { existsSync, readFileSync } from "node:fs";
import { basename, join } from "node:path";
import pg from "pg";
import { CAP, GRAPH } from "./layered-graph.ts";
import type { Participant } from "./participant.ts";
import type { Recorder } from "./recorder.ts";
import { Engine } from "../../src/engine/engine.ts";
import { DEFAULT_DELIMITERS } from "../../src/protocol/response/response-scanner.ts";
import { isRunOver } from "../../src/schema/status.ts";
import { openSqliteStore } from "../../src/store/sqlite.ts";
import { realWorld } from "../../src/world.ts";
import { NoOpHost } from "../../test/lab/no-op/no-op-host.ts";
import { NO_OP_WORKSPACES } from "../../test/lab/no-op/no-op-workspaces.ts";
import { openSimulatedServer, runSimulatedHost, workersOnly } from "../../test/lab/no-op/simulated-fleet.ts";

/** Read for a new run only: a resumed one has its own copy, as with a server that starts again. */
const resolve = () => ({ template: workersOnly(CAP), programs: [], warnings: [] });

export const tutti: Participant = async ({ folder, trace, isResumed }, recorder) => {
  const store = openSqliteStore(join(folder, "tutti.db"));
  const engine = Engine.open({
    store,
    snapshots: store.snapshots,
    sessions: recordedHost(recorder, trace),
    workspaces: NO_OP_WORKSPACES,
    world: realWorld,
    templates: { resolve },
    maxWorkers: CAP,
  });
  await carryOut(engine, recorder, folder, isResumed);
};

/** Tutti with PostgreSQL and one worker host, which runs all sessions. */
export const tuttiFleet: Participant = async ({ folder, url, trace, isResumed }, recorder) => {
  const database = `${url}/${await provideDatabase(url, basename(folder))}`;
  const drain = new AbortController();
  // A server and a host are two processes, so they start at the same time.
  const serving = openSimulatedServer({
    folder: join(folder, "data"),
    url: database,
    template: workersOnly(CAP),
    sessions: recordedHost(recorder, trace),
    maxWorkers: CAP,
  });
  const hosting = runSimulatedHost({
    folder: join(folder, "host"),
    url: database,
    name: "host",
    capacity: 2 * CAP,
    sessions: recordedHost(recorder, trace),
    maxConnections: CAP,
    drain: drain.signal,
  });
  hosting.catch((error: unknown) => console.error(error));
  const { engine, fleet } = await serving;
  while (!fleet.hasReadyHost) await new Promise((resolve) => setTimeout(resolve, 10));
  await carryOut(engine, recorder, folder, isResumed);
};

async function provideDatabase(url: string, name: string): Promise<string> {
  const client = new pg.Client(`${url}/postgres`);
  await client.connect();
  try {
    await client.query(`CREATE DATABASE ${name}`);
  } catch (error) {
    // A resumed participant has it already.
    if ((error as { code?: string }).code !== "42P04") throw error;
  } finally {
    await client.end();
  }
  return name;
}

export function recordedHost(recorder: Recorder, trace: string | null): NoOpHost {
  const answered = answeredIn(trace);
  return new NoOpHost({
    delimiters: { ...DEFAULT_DELIMITERS, type: "json" },
    plan: PLAN,
    started: ({ taskId }) => {
      if (taskId !== null) recorder.started(taskId);
    },
    delivered: ({ taskId }) => {
      if (taskId !== null) recorder.work(taskId);
    },
    lastTurn: ({ taskId }) => (taskId !== null && answered.has(taskId) ? 1 : 0),
  });
}

async function carryOut(engine: Engine, recorder: Recorder, cwd: string, isResumed: boolean): Promise<void> {
  engine.subscribe(({ type, data }) => {
    recorder.stored++;
    if (type === "worker:started") recorder.prompted(data.taskId);
    if (type === "worker:completed") recorder.ended(data.taskId);
  });
  const id = isResumed ? engine.list()[0]!.id : await planned(engine, cwd);
  recorder.begin();
  recorder.stored = 0;
  if (isResumed) await engine.activateAll();
  else await engine.order(id, "confirm");
  const { outcome } = await engine.until(id, ({ status }) => isRunOver(status));
  if (outcome !== "success") throw new Error(`the run ended with ${outcome}`);
}

const PLAN = GRAPH.map(({ id, needs }) => ({
  id,
  title: id,
  description: "nothing is to be done",
  scope: [`${id}.md`],
  priority: 5,
  dependencies: needs,
}));

async function planned(engine: Engine, cwd: string): Promise<string> {
  const { id } = await engine.create({ templateId: "_default", cwd, message: "do nothing", agent: "local" });
  await engine.order(id, "start");
  await engine.until(id, ({ status }) => status === "confirming");
  return id;
}

function answeredIn(trace: string | null): Set<string> {
  if (trace === null || !existsSync(trace)) return new Set();
  const ended = readFileSync(trace, "utf8").matchAll(/^ended (\S+) /gm);
  return new Set(Array.from(ended, ([, id]) => id!));
}
