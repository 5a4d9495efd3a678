// The way of every command to its runs: `readRuns` to read them, `withRuns` to change them. Both use the server of
// `findAddress` if there is one. Otherwise `readRuns` reads the log on disk, which an engine of another process may be
// writing, and `withRuns` opens an engine in this process.
import { findAddress } from "./find-address.ts";
import { mustExist, openItems, type RunAccess, type RunReader } from "./runs.ts";
import { readPairs } from "../input/pairs.ts";
import { untilInterrupted } from "../terminal/interrupt.ts";
import type { Output } from "../terminal/output.ts";
import type { LocalEngine, LocalOptions } from "../../main/local-engine.ts";
import { exportLog, readEvents, readRun, readSummaries, replayLog } from "../../main/read-log.ts";
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
  const address = await findAddress(output);
  if (!address) {
    const { localRuns } = await import("./local-runs.ts");
    const warn = (problem: string) => output.warn(problem);
    const options = { ...output.options, dataDir: output.dataDir, agentEnv: env, warn };
    return withEngine(options, (local, signal) => work(localRuns(local), signal), leaveRunning);
  }
  const [flag] = [...(agentEnv.length > 0 ? ["--agent-env"] : []), ...(leaveRunning ? ["--leave-running"] : [])];
  if (flag !== undefined) {
    throw new TuttiError(
      "usage",
      `The server at ${address.baseUrl} starts the agents. Give ${flag} to "tutti serve" instead.`,
    );
  }
  const { serverRuns } = await import("./server-runs.ts");
  return untilInterrupted((signal) => work(serverRuns(address), signal));
}

/** Flags that only a command with its own engine takes. */
interface EngineFlags {
  agentEnv?: readonly string[] | undefined;
  leaveRunning?: boolean | undefined;
}

/** Opens an engine for one command. At its end the agents end, unless `leaveRunning`, and the run stays resumable. */
export async function withEngine(
  options: LocalOptions,
  work: (local: LocalEngine, signal: AbortSignal) => Promise<number>,
  leaveRunning = false,
): Promise<number> {
  const { openLocalEngine } = await import("../../main/local-engine.ts");
  const local = openLocalEngine(options);
  return untilInterrupted(async (signal) => {
    try {
      return await work(local, signal);
    } finally {
      await local.close({ leaveRunning });
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
