// The routes as functions. What fails is a RequestError; nothing that failed has changed any state on the server.
import type { Frame } from "./frame.ts";
import { readError, unreachable } from "./request-error.ts";
import type { RunState, RunSummary, WaitingItem } from "./run-summary.ts";
import type { PersonAnswer } from "../schema/inbox.ts";
import type { Outcome } from "../schema/outcome.ts";
import type { ChangedPlan } from "../schema/plan-changes.ts";
import type { TranscriptEntry } from "../schema/transcript.ts";

export interface ClientOptions {
  /** Where the server is, such as `http://127.0.0.1:4517`. */
  baseUrl: string;
  /** Left out in the server's own page, whose cookie says the same. */
  token?: string;
  fetch?: typeof fetch;
}

/** A part of a list: only what comes after this number, or after the item of this id. */
export interface Page<After = number> {
  after?: After;
  limit?: number;
}

/** One of the decisions that a run waits for, by its place among them. */
export interface GivenDecision {
  index: number;
  option?: number;
  text?: string;
}

/** What became of the tasks of a plan in the moment it was confirmed. */
export interface Confirmed {
  workersCreated: number;
  tasksQueued: number;
  skipped: number;
}

export function createClient({ baseUrl, token, fetch: send = fetch }: ClientOptions) {
  const headers = (body: object | undefined): Record<string, string> => ({
    ...(token !== undefined && { authorization: `Bearer ${token}` }),
    ...(body && { "content-type": "application/json" }),
  });

  async function request<T>(method: "GET" | "POST", path: string, body?: object, signal?: AbortSignal): Promise<T> {
    const response = await send(new URL(path, baseUrl), {
      method,
      headers: headers(body),
      ...(body && { body: JSON.stringify(body) }),
      ...(signal && { signal }),
    }).catch((error: unknown) => {
      throw signal?.aborted ? error : unreachable(baseUrl, error);
    });
    if (!response.ok) throw await readError(response);
    return (await response.json()) as T;
  }

  const get = <T>(path: string, signal?: AbortSignal) => request<T>("GET", path, undefined, signal);
  const post = <T>(path: string, body: object = {}) => request<T>("POST", path, body);
  const runPath = (id: string) => `/api/orchestrator/${encodeURIComponent(id)}`;
  const workerPath = (id: string, sessionId: string) => `${runPath(id)}/workers/${encodeURIComponent(sessionId)}`;

  return {
    list: (page: Page<string> = {}, signal?: AbortSignal) =>
      get<RunSummary[]>(`/api/orchestrator${query(page)}`, signal),
    get: (id: string, signal?: AbortSignal) => get<RunState>(runPath(id), signal),
    events: (id: string, page: Page = {}, signal?: AbortSignal) =>
      get<Frame[]>(`${runPath(id)}/events${query(page)}`, signal),
    result: (id: string, signal?: AbortSignal) => get<Outcome>(`${runPath(id)}/result`, signal),
    transcript: (id: string, sessionId: string, page: Page = {}, signal?: AbortSignal) =>
      get<TranscriptEntry[]>(`${workerPath(id, sessionId)}/transcript${query(page)}`, signal),
    start: (id: string) => post(`${runPath(id)}/start`),
    pause: (id: string) => post(`${runPath(id)}/pause`),
    resume: (id: string) => post(`${runPath(id)}/resume`),
    cancel: (id: string) => post(`${runPath(id)}/cancel`),
    confirm: (id: string, changes: Partial<ChangedPlan> = {}) =>
      post<Confirmed>(`${runPath(id)}/confirm-tasks`, changes),
    /** Sends the plan back, with what should be different. */
    requestChanges: (id: string, text: string) => post(`${runPath(id)}/request-changes`, { text }),
    decide: (id: string, decisions: readonly GivenDecision[]) => post(`${runPath(id)}/decisions`, { decisions }),
    /** Tries a task again that did not complete. */
    retry: (id: string, taskId: string) => post(`${runPath(id)}/retry`, { taskId }),
    pauseWorker: (id: string, sessionId: string) => post(`${workerPath(id, sessionId)}/pause`),
    resumeWorker: (id: string, sessionId: string) => post(`${workerPath(id, sessionId)}/resume`),
    cancelWorker: (id: string, sessionId: string) => post(`${workerPath(id, sessionId)}/cancel`),
    inbox: (page: Page<string> = {}, signal?: AbortSignal) => get<WaitingItem[]>(`/api/inbox${query(page)}`, signal),
    answer: (itemId: string, answer: PersonAnswer) => post(`/api/inbox/${encodeURIComponent(itemId)}`, answer),
  };
}

function query(page: Page<string | number>): string {
  const pairs = Object.entries(page).map(([name, value]) => `${name}=${encodeURIComponent(String(value))}`);
  return pairs.length === 0 ? "" : `?${pairs.join("&")}`;
}
