// The way of every command to its runs: `readRuns` to read them, `withRuns` to change them. Both use the server of
// `findAddress` if there is one. Otherwise `readRuns` reads the log on disk, which an engine of another process may be
// writing, and `withRuns` uses the engine of that process, or opens one in this process.
import { existsSync } from "node:fs";
import { resolve } from "node:path";
import type { EngineAddress } from "./engine-address.ts";
import { findAddress } from "./find-address.ts";
import type { JoinedEngine } from "./joined-engine.ts";
import { mustExist, openItems, type RunAccess, type RunReader } from "./runs.ts";
import { untilFree } from "./until-free.ts";
import { readPairs } from "../input/pairs.ts";
import { untilInterrupted } from "../terminal/interrupt.ts";
import type { Output } from "../terminal/output.ts";
import type { ClientOptions } from "../../client/call-route.ts";
import type { LocalEngine, LocalOptions } from "../../main/local-engine.ts";
import { exportLog, readEvents, readRun, readSummaries, replayLog } from "../../main/read-log.ts";
import { engineSocketIn } from "../../main/socket-path.ts";
import type { ReadTranscript } from "../../main/transcripts.ts";
import { TuttiError } from "../../schema/error.ts";

// Engine and client are loaded on demand: loading them takes longer than reading the log.

export async function readRuns(output: Output): Promise<RunReader> {
  const address = await findAddress(output);
  return address ? (await import("./server-runs.ts")).serverRuns(address) : diskRuns(output.dataDir);
}

export async function withRuns(
  output: Output,
  work: (runs: RunAccess, signal: AbortSignal) => Promise<number>,
  { agentEnv = [], leaveRunning = false }: EngineFlags = {},
): Promise<number> {
  const env = readPairs("--agent-env", agentEnv);
  const warn = (problem: string) => output.warn(problem);
  const reached = await reachEngine(output, { ...output.options, dataDir: output.dataDir, agentEnv: env, warn });
  if (reached.local) {
    const { local } = reached;
    const { localRuns } = await import("./local-runs.ts");
    return thenClose(local, leaveRunning, (signal) => work(localRuns(local), signal));
  }
  const [flag] = [...(agentEnv.length > 0 ? ["--agent-env"] : []), ...(leaveRunning ? ["--leave-running"] : [])];
  if (flag !== undefined) {
    const [starter, command] = reached.server
      ? [`The server at ${reached.server.baseUrl}`, '"tutti serve"']
      : ["Another process on this data folder", "its command"];
    throw new TuttiError("usage", `${starter} starts the agents. Give ${flag} to ${command} instead.`);
  }
  if (reached.joined) {
    const { joined } = reached;
    return thenClose(joined, leaveRunning, (signal) => work(joined.runs, signal));
  }
  const { server } = reached;
  const { serverRuns } = await import("./server-runs.ts");
  return untilInterrupted((signal) => work(serverRuns(server), signal));
}

interface EngineFlags {
  agentEnv?: readonly string[] | undefined;
  leaveRunning?: boolean | undefined;
}

/** `local` is opened by this process, `joined` by another process on this machine. */
type ReachedEngine =
  | { local: LocalEngine; joined?: never; server?: never }
  | { joined: JoinedEngine; local?: never; server?: never }
  | { server: ClientOptions; local?: never; joined?: never };

/** How long a process may hold the data folder while `findEngineAddress` finds nothing: it starts, or it ends. */
const REACH_MS = 5000;

/** Throws `data_folder_in_use` if another process has the folder and does not answer. */
async function reachEngine(output: Output, options: LocalOptions): Promise<ReachedEngine> {
  return untilFree(REACH_MS, async () => {
    const server = await findAddress(output);
    if (server) return { server };
    const { openLocalEngine } = await import("../../main/local-engine.ts");
    const address = await findEngineAddress(output.dataDir);
    if (address) {
      const { JoinedEngine } = await import("./joined-engine.ts");
      return { joined: new JoinedEngine(address, () => openLocalEngine(options)) };
    }
    return { local: openLocalEngine(options) };
  });
}

async function findEngineAddress(dataDir: string): Promise<EngineAddress | null> {
  if (!existsSync(engineSocketIn(resolve(dataDir)))) return null;
  const { EngineAddress } = await import("./engine-address.ts");
  const address = new EngineAddress(dataDir);
  return (await address.answers()) ? address : null;
}

/** Unlike `withRuns`, never uses a server or the engine of another process. */
export async function withEngine(
  options: LocalOptions,
  work: (local: LocalEngine, signal: AbortSignal) => Promise<number>,
): Promise<number> {
  const { openLocalEngine } = await import("../../main/local-engine.ts");
  const local = openLocalEngine(options);
  return thenClose(local, false, (signal) => work(local, signal));
}

/** Closes `engine` after `work`. The agents end, unless `leaveRunning`, and the run stays resumable. */
async function thenClose(
  engine: Pick<LocalEngine, "close">,
  leaveRunning: boolean,
  work: (signal: AbortSignal) => Promise<number>,
): Promise<number> {
  return untilInterrupted(async (signal) => {
    try {
      return await work(signal);
    } finally {
      await engine.close({ leaveRunning });
    }
  });
}

function diskRuns(dataDir: string): RunReader {
  let transcripts: ReadTranscript | null = null;
  const run = async (id: string) => mustExist(readRun(dataDir, id), id);
  return {
    rows: async () => readSummaries(dataDir),
    inbox: async () => openItems(readSummaries(dataDir)),
    run,
    events: async (id, after = 0) => readEvents(dataDir, id, after),
    copy: async (id) => exportLog(dataDir, id),
    problems: async (id) => replayLog(dataDir, id).problems,
    diff: async (id, options) => (await import("../../main/disk-diff.ts")).diskDiff(dataDir, await run(id), options),
    transcript: async (id, sessionId, after = 0) => {
      transcripts ??= (await import("../../main/transcripts.ts")).openTranscripts(dataDir);
      return transcripts(id, sessionId, after);
    },
  };
}
