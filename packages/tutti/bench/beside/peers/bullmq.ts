// BullMQ: a queue in Redis and a worker; `Frontier` decides the next task. A job's id is its task, so adding it twice
// has no effect.
import { basename } from "node:path";
import { loadPackage } from "./load-package.ts";
import { Frontier } from "../frontier.ts";
import { CAP } from "../layered-graph.ts";
import type { Participant } from "../participant.ts";

/** Jobs of a dead process are found after this time. The default is thirty times as long. */
const STALLED_MS = 1000;

export const bullmq: Participant = async ({ folder, packages, url, isResumed }, recorder) => {
  const { Queue, Worker } = loadPackage(packages, "bullmq");
  const { hostname: host, port } = new URL(url);
  const connection = { host, port: Number(port), maxRetriesPerRequest: null };
  const name = basename(folder);
  const queue = new Queue(name, { connection });
  const frontier = new Frontier();
  if (isResumed) for (const { id } of await queue.getCompleted(0, -1)) frontier.ended(id);
  const add = (ids: readonly string[]): Promise<unknown> =>
    queue.addBulk(ids.map((id) => ({ name: "task", data: {}, opts: { jobId: id } })));
  const work = async ({ id }: { id: string }): Promise<void> => {
    recorder.started(id);
    recorder.work(id);
  };
  const limits = { concurrency: CAP, lockDuration: 2 * STALLED_MS, stalledInterval: STALLED_MS, maxStalledCount: 10 };
  const worker = new Worker(name, work, { connection, ...limits });
  worker.on("completed", ({ id }: { id: string }) => {
    recorder.ended(id);
    const next = frontier.ended(id);
    if (next.length > 0) void add(next);
  });
  await worker.waitUntilReady();
  recorder.begin();
  await add(frontier.ready());
  await frontier.finished;
};
