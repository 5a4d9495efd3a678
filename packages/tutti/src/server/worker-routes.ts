// The routes of workers and of what was said in their sessions.
import { Hono } from "hono";
import { PageQuery, readQuery, type Bindings } from "./decode.ts";
import { encodeWorker } from "./encode-run.ts";
import { findRun } from "./run-routes.ts";
import type { Engine } from "../engine/engine.ts";
import { aggregateStats } from "../engine/worker-stats.ts";
import { findAttempt } from "../engine/find-attempt.ts";
import { TuttiError } from "../schema/error.ts";
import { mainSessionId, workerSessionId } from "../schema/ids.ts";
import type { Run } from "../schema/run.ts";
import type { Worker } from "../schema/worker.ts";

export function workerRoutes(engine: Engine): Hono<Bindings> {
  const routes = new Hono<Bindings>();

  routes.get("/:id/workers", (c) => {
    const run = findRun(engine, c.req.param("id"));
    return c.json(Object.values(run.workers).map(encodeWorker));
  });

  routes.get("/:id/workers/stats", (c) => {
    return c.json(aggregateStats(findRun(engine, c.req.param("id")), Date.now()));
  });

  routes.get("/:id/workers/:key", (c) => {
    const run = findRun(engine, c.req.param("id"));
    const key = c.req.param("key");
    const worker =
      workerOf(run, key) ?? (hasSession(run, key) ? findAttempt(engine.events({ run: run.id }), key) : null);
    if (!worker) throw unknownSession(run, key);
    return c.json(encodeWorker(worker));
  });

  const orders = {
    cancel: (run: Run, key: string) => engine.cancelWorker(run.id, key),
    pause: (run: Run, key: string) => engine.pauseWorker(run.id, key),
    resume: (run: Run, key: string) => engine.resumeWorker(run.id, key),
    retry: (run: Run, key: string) => engine.retry(run.id, workerOf(run, key)!.taskId),
  };
  for (const [name, give] of Object.entries(orders)) {
    routes.post(`/:id/workers/:key/${name}`, async (c) => {
      const run = findRun(engine, c.req.param("id"));
      const key = c.req.param("key");
      if (!workerOf(run, key)) throw hasSession(run, key) ? notTheNewest(key) : unknownSession(run, key);
      await give(run, key);
      return c.json({ success: true });
    });
  }

  routes.get("/:id/workers/:key/transcript", (c) => {
    const run = findRun(engine, c.req.param("id"));
    const key = c.req.param("key");
    if (!hasSession(run, key)) throw unknownSession(run, key);
    const { after, limit } = readQuery(c, PageQuery);
    const entries = engine.transcript(run.id, key).filter(({ n }) => n > after);
    return c.json(entries.slice(0, limit));
  });

  return routes;
}

const workerOf = (run: Run, key: string): Worker | undefined =>
  Object.values(run.workers).find(({ sessionId }) => sessionId === key);

/** Older attempts count too: they and their transcripts stay readable. */
function hasSession(run: Run, key: string): boolean {
  const prefix = run.template.config.sessionPrefix;
  const attempts = (last: number) => Array.from({ length: last }, (_, i) => i + 1);
  if (key === run.mainSessionId) return true;
  if (attempts(run.main?.attempt ?? 0).some((attempt) => key === mainSessionId(run.id, attempt, prefix))) return true;
  return Object.values(run.workers).some((worker) =>
    attempts(worker.attempt).some((attempt) => key === workerSessionId(run.id, worker.taskId, attempt, prefix)),
  );
}

const unknownSession = (run: Run, key: string): TuttiError =>
  new TuttiError("worker_not_found", `run ${run.id} has no session ${key}`);

/** Only the worker that holds the task can be steered. */
const notTheNewest = (key: string): TuttiError =>
  new TuttiError("wrong_state", `${key} is not the newest attempt at a task`);
