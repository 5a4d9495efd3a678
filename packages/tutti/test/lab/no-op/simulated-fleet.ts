// Servers and worker hosts over a real database, with the real engine, store, fleet and worker. Only their sessions and
// workspaces are no-ops: no process is started and git is not run.
import { mkdirSync } from "node:fs";
import type { NoOpHost } from "./no-op-host.ts";
import { NO_OP_WORKSPACES } from "./no-op-workspaces.ts";
import { Engine } from "../../../src/engine/engine.ts";
import type { CheckRunner } from "../../../src/engine/sessions/run-checks.ts";
import { provideHostTables, type Fleet } from "../../../src/fleet/fleet.ts";
import { withRemoteSessions } from "../../../src/fleet/remote-sessions.ts";
import { withRemoteWorkspaces } from "../../../src/fleet/remote-workspaces.ts";
import { runWorker } from "../../../src/fleet/worker.ts";
import { openHeldStore } from "../../../src/main/held-store.ts";
import type { Template } from "../../../src/schema/template.ts";
import { openDatabase } from "../../../src/store/postgres/database.ts";
import { TemplateLibrary } from "../../../src/template/files/library.ts";
import type { Exchange } from "../../../src/workspace/exchange/exchange.ts";
import { realWorld, type World } from "../../../src/world.ts";

const NO_CHECKS: CheckRunner = { detect: async () => [], run: async () => ({ exitCode: 0, output: "" }) };

const NO_OP_EXCHANGE: { [Name in keyof Exchange]: Exchange[Name] } = {
  remoteOf: async () => "/remote",
  isInRemote: async () => true,
  openClone: async () => {},
  fetch: async () => [],
  refsOf: async () => ({}),
  has: async () => true,
  send: async (_, __, ___, start) => ({ refs: {}, start, bundle: null }),
  push: async () => true,
  pack: async () => null,
  unpack: async () => {},
  receive: async () => {},
  bring: async () => {},
};
const exchange = NO_OP_EXCHANGE as Exchange;

/** The built-in template, with the worker phase only. */
export function workersOnly(maxWorkers: number): Template {
  const { template } = new TemplateLibrary({ userFolder: "/none" }).resolve("_default");
  const { analysis, aggregation, verification } = template.phases;
  return {
    ...template,
    config: { ...template.config, maxWorkers, acceptWithoutWork: true, autoSpawn: false },
    phases: {
      ...template.phases,
      analysis: { ...analysis, enabled: false },
      aggregation: { ...aggregation, enabled: false },
      verification: { ...verification, enabled: false },
    },
  };
}

export interface SimulatedServerOptions {
  folder: string;
  url: string;
  template: Template;
  /** Runs the sessions that are not on a host. */
  sessions: NoOpHost;
  maxWorkers: number;
  leaseMs?: number;
}

export interface SimulatedServer {
  engine: Engine;
  fleet: Fleet;
  close(): Promise<void>;
}

export async function openSimulatedServer(options: SimulatedServerOptions): Promise<SimulatedServer> {
  const { folder, url, template, sessions, maxWorkers, leaseMs } = options;
  const { store, fleet, lock } = await openHeldStore(folder, url, { leaseMs });
  const engine = Engine.open({
    store,
    snapshots: store.snapshots,
    sessions: withRemoteSessions(sessions, fleet),
    ...withRemoteWorkspaces({ fleet, workspaces: NO_OP_WORKSPACES, checks: NO_CHECKS, exchange }),
    world: realWorld,
    templates: { resolve: () => ({ template, programs: [], warnings: [] }) },
    maxWorkers,
  });
  return {
    engine,
    fleet,
    async close() {
      fleet.leave();
      await engine.close();
      await fleet.close();
      lock.release();
    },
  };
}

export interface SimulatedHostOptions {
  folder: string;
  url: string;
  name: string;
  capacity: number;
  sessions: NoOpHost;
  maxConnections?: number;
  memoryRoom?: () => number;
  world?: World;
  drain: AbortSignal;
  onJoined?: () => void;
}

/** Serves until it is drained. */
export async function runSimulatedHost(options: SimulatedHostOptions): Promise<void> {
  const { folder, url, name, capacity, sessions, maxConnections = 4, drain, onJoined = () => {} } = options;
  const { memoryRoom = () => Number.POSITIVE_INFINITY, world = realWorld } = options;
  mkdirSync(folder, { recursive: true });
  const database = await openDatabase({ url, name: "simulated host", maxConnections });
  try {
    await provideHostTables(database);
    await runWorker({
      database,
      folder,
      sessions,
      workspaces: NO_OP_WORKSPACES,
      checks: NO_CHECKS,
      exchange,
      repository: null,
      facts: {
        name,
        labels: {},
        capacity,
        version: "simulated",
        facts: { agents: ["local"], sandbox: false, memory: 0, cpus: 1 },
      },
      memoryRoom,
      world,
      graceMs: 0,
      drain,
      onJoined,
      report: () => {},
    });
  } finally {
    await database.close();
  }
}
