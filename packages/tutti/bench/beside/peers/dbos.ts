// DBOS: a workflow that starts one child workflow per task on a queue. The order of the starts is fixed, because the
// workflow is replayed after a crash.
import { basename } from "node:path";
import { loadPackage } from "./load-package.ts";
import { CAP, GRAPH } from "../layered-graph.ts";
import type { Participant } from "../participant.ts";

/** Queues and results are polled. Default: once a second. */
const POLL_MS = 20;
const GRAPH_ID = "graph";

export const dbos: Participant = async ({ folder, packages, url, isResumed }, recorder) => {
  const { DBOS } = loadPackage(packages, "@dbos-inc/dbos-sdk");
  const database = basename(folder).replaceAll(/\W/g, "_");
  const logger = { info() {}, debug() {}, warn() {}, error: console.error };
  DBOS.setConfig({
    name: "beside",
    systemDatabaseUrl: `${url}/${database}`,
    systemDatabasePoolSize: CAP + 10,
    applicationVersion: "1",
    executorID: "one",
    logger,
  });
  const task = DBOS.registerWorkflow(
    async (id: string) => {
      recorder.started(id);
      recorder.work(id);
      recorder.ended(id);
    },
    { name: "task" },
  );
  const graph = DBOS.registerWorkflow(
    async () => {
      const results = new Map<string, () => Promise<unknown>>();
      for (const { id, needs } of GRAPH) {
        for (const needed of needs) await results.get(needed)!();
        const handle = await DBOS.startWorkflow(task, { workflowID: id, queueName: "tasks" })(id);
        results.set(
          id,
          once(() => handle.getResult({ pollingIntervalMs: POLL_MS })),
        );
      }
      for (const { id } of GRAPH) await results.get(id)!();
    },
    { name: "graph" },
  );
  await DBOS.launch();
  await DBOS.registerQueue("tasks", { globalConcurrency: CAP, minPollingIntervalMs: POLL_MS });
  recorder.begin();
  // The launch has recovered the work of a killed process.
  const handle = isResumed
    ? DBOS.retrieveWorkflow(GRAPH_ID)
    : await DBOS.startWorkflow(graph, { workflowID: GRAPH_ID })();
  await handle.getResult({ pollingIntervalMs: POLL_MS });
};

function once<T>(work: () => Promise<T>): () => Promise<T> {
  let result: Promise<T> | null = null;
  return () => (result ??= work());
}
