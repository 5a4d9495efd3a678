import { findAddress } from "./find-address.ts";
import { exportLog, readEvents, readRun, readSummaries, replayLog } from "../../main/read-log.ts";
import type { Output } from "../terminal/output.ts";
import type { RunReader } from "./runs.ts";
import type { ReadTranscript } from "../../main/transcripts.ts";
import { TuttiError } from "../../schema/error.ts";

/** Reads runs from the server that `findAddress` finds, else with `diskLook` from the log on disk. */
export async function openRunReader(output: Output): Promise<RunReader> {
  const address = await findAddress(output);
  if (!address) return diskLook(output.dataDir);
  // `serverRuns` is loaded on demand, because loading it takes longer than reading the log.
  const { serverRuns } = await import("./server-runs.ts");
  return serverRuns(address);
}

function diskLook(dataDir: string): RunReader {
  let transcripts: ReadTranscript | null = null;
  return {
    rows: async () => readSummaries(dataDir),
    inbox: async () =>
      readSummaries(dataDir)
        .flatMap(({ inbox }) => inbox)
        .toSorted((a, b) => a.createdAt - b.createdAt),
    run: async (id) => {
      const run = readRun(dataDir, id);
      if (run === null)
        throw new TuttiError("run_not_found", `Run "${id}" does not exist. List runs with "tutti list".`);
      return run;
    },
    events: async (id, after = 0) => readEvents(dataDir, id, after),
    copy: async (id) => exportLog(dataDir, id),
    problems: async (id) => replayLog(dataDir, id).problems,
    transcript: async (id, sessionId, after = 0) => {
      transcripts ??= (await import("../../main/transcripts.ts")).openTranscripts(dataDir);
      return transcripts(id, sessionId, after);
    },
  };
}
