// pg-boss: a queue in PostgreSQL and its workers, woken by NOTIFY. The transaction that completes a task enqueues the
// tasks that it makes ready. flow(), the built-in dependencies, polls at most once a second, which would add ten
// seconds to ten layers.
import { createHash } from "node:crypto";
import { basename } from "node:path";
import { loadPackage } from "./load-package.ts";
import { Frontier } from "../frontier.ts";
import { CAP, GRAPH } from "../layered-graph.ts";
import type { Participant } from "../participant.ts";

const QUEUE = "graph";

/** The shortest times that pg-boss allows for detecting a dead worker. */
const HEARTBEAT = { heartbeatSeconds: 10, retryLimit: 10 };
const SUPERVISION = { superviseIntervalSeconds: 1, monitorIntervalSeconds: 1, maintenanceIntervalSeconds: 1 };

/** A job's id must be a UUID; the same task always gets the same one. */
function jobId(taskId: string): string {
  const digest = createHash("sha256").update(taskId).digest("hex");
  return [8, 12, 16, 20, 32].map((end, i) => digest.slice([0, 8, 12, 16, 20][i], end)).join("-");
}

export const pgBoss: Participant = async ({ folder, packages, url, isResumed }, recorder) => {
  const { PgBoss } = loadPackage(packages, "pg-boss");
  const schema = basename(folder).replaceAll(/\W/g, "_");
  // Every worker holds a connection during its transaction.
  const boss = new PgBoss({
    connectionString: `${url}/postgres`,
    schema,
    max: CAP + 10,
    useListenNotify: true,
    ...SUPERVISION,
  });
  boss.on("error", (error: unknown) => console.error(error));
  await boss.start();
  const frontier = new Frontier();
  if (isResumed) {
    const { rows } = await boss.getDb().executeSql(`SELECT data FROM ${schema}.job WHERE state = 'completed'`);
    for (const { data } of rows) frontier.ended(data.id);
  } else {
    await boss.createQueue(QUEUE, { notify: true, ...HEARTBEAT });
  }
  const jobs = (ids: readonly string[]): object[] => ids.map((id) => ({ id: jobId(id), data: { id } }));
  const work = async ([job]: [{ data: { id: string } }], db: unknown): Promise<void> => {
    const { id } = job.data;
    recorder.started(id);
    recorder.work(id);
    recorder.ended(id);
    const next = frontier.ended(id);
    if (next.length > 0) await boss.insert(QUEUE, jobs(next), { db });
  };
  const intervals = { pollingIntervalSeconds: 0.5, notifyPollingIntervalSeconds: 0.5 };
  await boss.work(QUEUE, { localConcurrency: CAP, transactional: true, ...intervals }, work);
  recorder.begin();
  // Jobs that are already in the queue stay unchanged.
  await boss.insert(QUEUE, jobs(frontier.ready()));
  await completed(boss, schema);
};

/** A job completes after its handler, so `completed` polls the table. */
async function completed(boss: ReturnType<typeof loadPackage>, schema: string): Promise<void> {
  const count = `SELECT count(*)::int AS done FROM ${schema}.job WHERE name = '${QUEUE}' AND state = 'completed'`;
  for (;;) {
    const { rows } = await boss.getDb().executeSql(count);
    if (rows[0].done === GRAPH.length) return;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}
