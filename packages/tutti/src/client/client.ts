// `createClient` has the routes as functions. They reject with `RequestError`, and a rejected call has changed no state
// on the server.
import { createCall, type RouteInput, type ClientOptions } from "./call-route.ts";
import type { ListedRun } from "./run-summary.ts";
import { orderKey, type OrderArguments, type OrderName } from "../schema/api/orders.ts";
import type { PersonAnswer } from "../schema/inbox.ts";

export type { ClientOptions } from "./call-route.ts";

/** Requests only items after the number or id `after`. */
interface ListPage<After = number> {
  after?: After;
  limit?: number;
}

type NewRun = RouteInput<"POST /api/orchestrator">["body"];
type DiffQuery = NonNullable<RouteInput<"GET /api/orchestrator/:id/diff">["query"]>;
type ForkedRun = RouteInput<"POST /api/orchestrator/:id/fork">["body"];

export function createClient(options: ClientOptions) {
  const call = createCall(options);
  return {
    /** Calls a route by its key, for routes without a function here. */
    call,
    create: (body: NewRun, idempotencyKey?: string) =>
      call("POST /api/orchestrator", {
        body,
        headers: idempotencyKey === undefined ? {} : { "idempotency-key": idempotencyKey },
      }),
    list: (page: ListPage<string> = {}, signal?: AbortSignal) =>
      call("GET /api/orchestrator", { query: page, signal }) as Promise<ListedRun[]>,
    get: (id: string, signal?: AbortSignal) => call("GET /api/orchestrator/:id", { params: { id }, signal }),
    events: (id: string, page: ListPage = {}, signal?: AbortSignal) =>
      call("GET /api/orchestrator/:id/events", { params: { id }, query: page, signal }),
    result: (id: string, signal?: AbortSignal) => call("GET /api/orchestrator/:id/result", { params: { id }, signal }),
    /** Compares the result of a run, or of a task, with its base. `stat: "1"` leaves out the patches. */
    diff: (id: string, query: DiffQuery = {}, signal?: AbortSignal) =>
      call("GET /api/orchestrator/:id/diff", { params: { id }, query, signal }),
    /** `noFf` makes a merge commit even if the branch could be fast-forwarded. */
    merge: (id: string, body: { noFf?: boolean } = {}) =>
      call("POST /api/orchestrator/:id/merge", { params: { id }, body }),
    drop: (id: string) => call("POST /api/orchestrator/:id/drop", { params: { id } }),
    /** `tail` requests the last entries instead of those after `after`. */
    transcript: (
      id: string,
      key: string,
      page: ListPage & { tail?: number; find?: string } = {},
      signal?: AbortSignal,
    ) =>
      call("GET /api/orchestrator/:id/workers/:key/transcript", {
        params: { id, key },
        query: page,
        signal,
      }),
    /** Returns the log of a run as a text that `import` accepts, on this server or another. */
    export: (id: string, signal?: AbortSignal) => call("GET /api/orchestrator/:id/export", { params: { id }, signal }),
    /** `trust` is the hash of the programs that the user agreed to. */
    import: (text: string, trust?: string) => call("POST /api/orchestrator/import", { body: text, query: { trust } }),
    /** Folds the log again, up to event `until`, and reports problems. */
    replay: (id: string, until?: number, signal?: AbortSignal) =>
      call("GET /api/orchestrator/:id/replay", {
        params: { id },
        query: { until },
        signal,
      }),
    fork: (id: string, body: ForkedRun = {}) => call("POST /api/orchestrator/:id/fork", { params: { id }, body }),
    /** `input` is the body of the route that `orderKey` names. */
    order: <Name extends OrderName>(id: string, name: Name, ...[input]: OrderArguments<Name>) =>
      call(orderKey(name), { params: { id }, ...(input !== undefined && { body: input }) } as never),
    pauseWorker: (id: string, key: string) =>
      call("POST /api/orchestrator/:id/workers/:key/pause", { params: { id, key } }),
    resumeWorker: (id: string, key: string) =>
      call("POST /api/orchestrator/:id/workers/:key/resume", { params: { id, key } }),
    cancelWorker: (id: string, key: string) =>
      call("POST /api/orchestrator/:id/workers/:key/cancel", { params: { id, key } }),
    inbox: (page: ListPage<string> = {}, signal?: AbortSignal) => call("GET /api/inbox", { query: page, signal }),
    answer: (itemId: string, answer: PersonAnswer) =>
      call("POST /api/inbox/:itemId", { params: { itemId }, body: answer }),
  };
}
