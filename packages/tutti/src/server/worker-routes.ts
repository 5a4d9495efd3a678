// The routes of workers and of what was said in their sessions.
import { Hono } from "hono";
import { PageQuery, readQuery, type Bindings } from "./decode.ts";
import { encodeWorker } from "./encode-run.ts";
import { findRun } from "./run-routes.ts";
import type { Engine } from "../engine/engine.ts";
import { TuttiError } from "../schema/error.ts";
import { mainSessionId, workerSessionId } from "../schema/ids.ts";
import type { Run } from "../schema/run.ts";

export function workerRoutes(engine: Engine): Hono<Bindings> {
  const routes = new Hono<Bindings>();

  routes.get("/:id/workers", (c) => {
    const run = findRun(engine, c.req.param("id"));
    return c.json(Object.values(run.workers).map(encodeWorker));
  });

  routes.get("/:id/workers/:key", (c) => {
    const run = findRun(engine, c.req.param("id"));
    const worker = Object.values(run.workers).find(({ sessionId }) => sessionId === c.req.param("key"));
    if (!worker) throw unknownSession(run, c.req.param("key"));
    return c.json(encodeWorker(worker));
  });

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

/** Older attempts count too: their transcripts stay readable. */
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
  new TuttiError("task_not_found", `run ${run.id} has no session ${key}`);
