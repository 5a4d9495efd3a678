// One engine that works on the graph in its own process. The benchmark starts it with a `Setting`; it executes the
// graph and sends back its record. A resumed one continues the work of a killed one.
import { Recorder, type Record } from "./recorder.ts";

export interface Setting {
  name: string;
  /** The same folder if `isResumed`. */
  folder: string;
  /** File for the traces of tasks, or null if the process will not be killed. */
  trace: string | null;
  isResumed: boolean;
  packages: string;
  url: string;
}

export type Participant = (setting: Setting, recorder: Recorder) => Promise<void>;

/** Set by the benchmark: `tutti.ts` as one bundle, as the published package is. */
export const BUILT_TUTTI = "TUTTI_BESIDE";

function loadTutti(): Promise<typeof import("./tutti.ts")> {
  const built = process.env[BUILT_TUTTI];
  return built === undefined ? import("./tutti.ts") : import(built);
}

const PARTICIPANTS: { [name: string]: () => Promise<Participant> } = {
  Tutti: async () => (await loadTutti()).tutti,
  "Tutti fleet": async () => (await loadTutti()).tuttiFleet,
  "p-graph": async () => (await import("./peers/p-graph.ts")).pGraph,
  BullMQ: async () => (await import("./peers/bullmq.ts")).bullmq,
  "pg-boss": async () => (await import("./peers/pg-boss.ts")).pgBoss,
  DBOS: async () => (await import("./peers/dbos.ts")).dbos,
  Restate: async () => (await import("./peers/restate.ts")).restate,
};

export async function takePart(setting: Setting): Promise<Record> {
  const participant = await PARTICIPANTS[setting.name]!();
  const recorder = new Recorder(setting.trace);
  await participant(setting, recorder);
  return recorder.close();
}
