import { pageOf } from "../decode.ts";
import { encodeWorker } from "./encode-run.ts";
import type { Handlers } from "../handler.ts";
import { encodeAll, findRun } from "./run-routes.ts";
import { DONE } from "./steer-routes.ts";
import type { Hide } from "../access/hide.ts";
import { exportTranscript, PAGE_ENTRIES } from "../stream-array.ts";
import type { Engine } from "../../engine/engine.ts";
import { aggregateStats } from "../../engine/sessions/worker-stats.ts";
import { findAttempt } from "../../engine/sessions/find-attempt.ts";
import type { WORKER_ROUTES } from "../../schema/api/worker-routes.ts";
import { TuttiError } from "../../schema/error.ts";
import { mainSessionId, workerSessionId } from "../../schema/ids.ts";
import type { Run } from "../../schema/run.ts";
import { hasWords, type TranscriptEntry } from "../../schema/transcript.ts";
import type { Worker } from "../../schema/worker.ts";

/** A transcript page has about `PAGE_CHARACTERS`. Clients read on with `after`. */
const PAGE_CHARACTERS = 1_000_000;

export function workerHandlers(engine: Engine): Handlers<keyof typeof WORKER_ROUTES> {
  /** The session `key` must be the newest attempt at its task. */
  const steer =
    (order: (run: Run, worker: Worker) => Promise<Run>) =>
    async ({ params }: { params: { id: string; key: string } }) => {
      const { id, key } = params;
      const run = findRun(engine, id);
      const worker = workerOf(run, key);
      if (!worker) throw hasSession(run, key) ? notTheNewest(key) : unknownSession(run, key);
      await order(run, worker);
      return DONE;
    };
  const retryWorker = steer(({ id }, { taskId }) => engine.order(id, "retry", { taskId }));
  const findSession = ({ id, key }: { id: string; key: string }) => {
    const run = findRun(engine, id);
    if (!hasSession(run, key)) throw unknownSession(run, key);
    return { id: run.id, key };
  };
  return {
    "GET /api/orchestrator/:id/workers": ({ params, query }) => {
      const workers = Object.values(findRun(engine, params.id).workers);
      return encodeAll(
        pageOf(workers, query(), ({ sessionId }) => sessionId),
        encodeWorker,
      );
    },
    "GET /api/orchestrator/:id/workers/stats": ({ params }) => aggregateStats(findRun(engine, params.id), Date.now()),
    "GET /api/orchestrator/:id/workers/:key": ({ params }) => {
      const run = findRun(engine, params.id);
      const { key } = params;
      const worker =
        workerOf(run, key) ?? (hasSession(run, key) ? findAttempt(engine.events({ run: run.id }), key) : null);
      if (!worker) throw unknownSession(run, key);
      return encodeWorker(worker);
    },
    "POST /api/orchestrator/:id/workers/:key/cancel": steer(({ id }, { sessionId }) =>
      engine.cancelWorker(id, sessionId),
    ),
    "POST /api/orchestrator/:id/workers/:key/pause": steer(({ id }, { sessionId }) =>
      engine.pauseWorker(id, sessionId),
    ),
    "POST /api/orchestrator/:id/workers/:key/resume": steer(({ id }, { sessionId }) =>
      engine.resumeWorker(id, sessionId),
    ),
    "POST /api/orchestrator/:id/workers/:key/retry": async (request) => {
      const run = findRun(engine, request.params.id);
      const { key } = request.params;
      // A task that never started, such as a refused deployment, has no session, so its own id names it.
      if (hasSession(run, key) || !run.tasks.some(({ id }) => id === key)) return retryWorker(request);
      await engine.order(run.id, "retry", { taskId: key });
      return DONE;
    },
    "GET /api/orchestrator/:id/workers/:key/transcript": ({ params, query, hide }) => {
      const session = findSession(params);
      const { tail, find, ...page } = query();
      if (tail !== undefined) return readTail(transcriptPages(engine, session, hide), tail, find);
      if (find !== undefined) return readMatches(transcriptPages(engine, session, hide, page.after), page.limit, find);
      return engine.transcript(session.id, session.key, { ...page, characters: PAGE_CHARACTERS });
    },
    "GET /api/orchestrator/:id/workers/:key/transcript/export": ({ params, hide }) => {
      const session = findSession(params);
      return exportTranscript(session.key, transcriptPages(engine, session, hide));
    },
  };
}

/** Keeps at most `tail` entries and about `PAGE_CHARACTERS` in memory, however long the transcript is. */
async function readTail(
  pages: AsyncIterable<TranscriptEntry[]>,
  tail: number,
  find: string | undefined,
): Promise<TranscriptEntry[]> {
  let last: TranscriptEntry[] = [];
  if (tail === 0) return last;
  for await (const page of pages)
    last = [...last, ...(find === undefined ? page : page.filter((entry) => hasWords(entry, find)))].slice(-tail);
  return withinPage(last);
}

async function readMatches(
  pages: AsyncIterable<TranscriptEntry[]>,
  limit: number,
  find: string,
): Promise<TranscriptEntry[]> {
  const found: TranscriptEntry[] = [];
  let characters = 0;
  for await (const page of pages) {
    for (const entry of page) {
      if (!hasWords(entry, find)) continue;
      found.push(entry);
      characters += JSON.stringify(entry).length;
      if (found.length >= limit || characters >= PAGE_CHARACTERS) return found;
    }
  }
  return found;
}

/**
 * Pages of about `PAGE_CHARACTERS`, up to the end of the transcript at this moment. They are hidden before a search, which
 * would reveal a secret piece by piece.
 */
async function* transcriptPages(
  engine: Engine,
  session: { id: string; key: string },
  hide: Hide | null,
  after = 0,
): AsyncGenerator<TranscriptEntry[]> {
  const limits = { limit: PAGE_ENTRIES, characters: PAGE_CHARACTERS };
  for (;;) {
    const page = await engine.transcript(session.id, session.key, { after, ...limits });
    if (page.length === 0) return;
    after = page.at(-1)!.n;
    yield hide ? hide(page) : page;
  }
}

/** Drops the oldest entries beyond `PAGE_CHARACTERS`. At least one entry stays. */
function withinPage(entries: TranscriptEntry[]): TranscriptEntry[] {
  let characters = 0;
  const first = entries.findLastIndex((entry) => (characters += JSON.stringify(entry).length) > PAGE_CHARACTERS);
  return entries.slice(first < 0 ? 0 : Math.min(first + 1, entries.length - 1));
}

const workerOf = (run: Run, key: string): Worker | undefined =>
  Object.values(run.workers).find(({ sessionId }) => sessionId === key);

/** `hasSession` is true for older attempts too, which keep their transcripts. */
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
  new TuttiError(
    "worker_not_found",
    `Run "${run.id}" has no session "${key}". List its sessions with "tutti status ${run.id}".`,
  );

const notTheNewest = (key: string): TuttiError =>
  new TuttiError("wrong_state", `Session "${key}" is not the newest attempt at a task. Use the newest one.`);
