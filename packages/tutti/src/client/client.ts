// The routes as functions. What fails is a RequestError; nothing that failed has changed any state on the server.
import { createCall, type Asking, type ClientOptions } from "./call-route.ts";
import type { RunSummary } from "./run-summary.ts";
import type { GivenDecision } from "../schema/api/steer-routes.ts";
import type { PersonAnswer } from "../schema/inbox.ts";

export type { ClientOptions } from "./call-route.ts";

/** A part of a list: only what comes after this number, or after the item of this id. */
export interface Page<After = number> {
  after?: After;
  limit?: number;
}

type NewRun = Asking<"POST /api/orchestrator">["body"];
type ForkedRun = Asking<"POST /api/orchestrator/:id/fork">["body"];
type ChangedPlan = Asking<"POST /api/orchestrator/:id/confirm-tasks">["body"];

export function createClient(options: ClientOptions) {
  const call = createCall(options);
  const about = (signal: AbortSignal | undefined) => (signal ? { signal } : {});

  return {
    /** Any route by its name, for what has no function of its own here. */
    call,
    create: (body: NewRun, idempotencyKey?: string) =>
      call("POST /api/orchestrator", {
        body,
        ...(idempotencyKey !== undefined && { headers: { "idempotency-key": idempotencyKey } }),
      }),
    list: (page: Page<string> = {}, signal?: AbortSignal) =>
      call("GET /api/orchestrator", { query: page, ...about(signal) }) as Promise<RunSummary[]>,
    get: (id: string, signal?: AbortSignal) => call("GET /api/orchestrator/:id", { params: { id }, ...about(signal) }),
    events: (id: string, page: Page = {}, signal?: AbortSignal) =>
      call("GET /api/orchestrator/:id/events", { params: { id }, query: page, ...about(signal) }),
    result: (id: string, signal?: AbortSignal) =>
      call("GET /api/orchestrator/:id/result", { params: { id }, ...about(signal) }),
    transcript: (id: string, key: string, page: Page = {}, signal?: AbortSignal) =>
      call("GET /api/orchestrator/:id/workers/:key/transcript", {
        params: { id, key },
        query: page,
        ...about(signal),
      }),
    /** The run's log as a text, which `import` takes in, on this server or another. */
    export: (id: string, signal?: AbortSignal) =>
      call("GET /api/orchestrator/:id/export", { params: { id }, ...about(signal) }),
    /** `trust` is the hash of the programs that the person agreed to let the run start. */
    import: (text: string, trust?: string) =>
      call("POST /api/orchestrator/import", { body: text, query: trust === undefined ? {} : { trust } }),
    /** Folds the run's log again and checks it. */
    replay: (id: string, until?: number, signal?: AbortSignal) =>
      call("GET /api/orchestrator/:id/replay", {
        params: { id },
        query: until === undefined ? {} : { until },
        ...about(signal),
      }),
    /** A new run with the past of this one, up to one of its events. */
    fork: (id: string, body: ForkedRun = {}) => call("POST /api/orchestrator/:id/fork", { params: { id }, body }),
    start: (id: string) => call("POST /api/orchestrator/:id/start", { params: { id } }),
    pause: (id: string) => call("POST /api/orchestrator/:id/pause", { params: { id } }),
    resume: (id: string) => call("POST /api/orchestrator/:id/resume", { params: { id } }),
    cancel: (id: string) => call("POST /api/orchestrator/:id/cancel", { params: { id } }),
    confirm: (id: string, body: ChangedPlan = {}) =>
      call("POST /api/orchestrator/:id/confirm-tasks", { params: { id }, body }),
    /** Sends the plan back, with what should be different. */
    requestChanges: (id: string, text: string) =>
      call("POST /api/orchestrator/:id/request-changes", { params: { id }, body: { text } }),
    decide: (id: string, decisions: readonly GivenDecision[]) =>
      call("POST /api/orchestrator/:id/decisions", { params: { id }, body: { decisions: [...decisions] } }),
    /** To the worker of a task, or to the main session. */
    message: (id: string, text: string, taskId?: string) =>
      call("POST /api/orchestrator/:id/message", {
        params: { id },
        body: { text, ...(taskId !== undefined && { taskId }) },
      }),
    /** Tries a task again that did not complete. */
    retry: (id: string, taskId: string) =>
      call("POST /api/orchestrator/:id/retry", { params: { id }, body: { taskId } }),
    pauseWorker: (id: string, key: string) =>
      call("POST /api/orchestrator/:id/workers/:key/pause", { params: { id, key } }),
    resumeWorker: (id: string, key: string) =>
      call("POST /api/orchestrator/:id/workers/:key/resume", { params: { id, key } }),
    cancelWorker: (id: string, key: string) =>
      call("POST /api/orchestrator/:id/workers/:key/cancel", { params: { id, key } }),
    inbox: (page: Page<string> = {}, signal?: AbortSignal) => call("GET /api/inbox", { query: page, ...about(signal) }),
    answer: (itemId: string, answer: PersonAnswer) =>
      call("POST /api/inbox/:itemId", { params: { itemId }, body: answer }),
  };
}
