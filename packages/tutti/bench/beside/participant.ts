// One engine at work on the graph, in a process of its own: started by the benchmark with its name and where things are,
// it carries the graph out and sends back what it noted. Where it resumes, it goes on with what a killed one has left.
import { Recorder, type Record } from "./recorder.ts";

export interface Setting {
  name: string;
  /** A folder of its own, the same one when it resumes. */
  folder: string;
  /** Where tasks leave their traces, or null where nobody is going to be killed. */
  trace: string | null;
  isResumed: boolean;
  /** The folder in which the packages of the peers are installed. */
  packages: string;
  /** Where its server listens, if it has one. */
  url: string;
}

/** Carries the graph out and resolves when every task has ended. */
export type Participant = (setting: Setting, recorder: Recorder) => Promise<void>;

const PARTICIPANTS: { [name: string]: () => Promise<Participant> } = {
  Tutti: async () => (await import("./tutti.ts")).tutti,
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
