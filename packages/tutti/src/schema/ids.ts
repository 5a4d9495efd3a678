// Ids of runs, tasks and sessions. A session has one id everywhere (`TUTTI_SESSION_KEY`, `WorkerState.sessionId`, and
// `:sessionId` and `:key` of the routes); a backend's own session id is stored separately. Keepers load this file, which
// therefore does without zod.

export const RUN_ID = /^orch_[a-z0-9]{12}$/;

/** Tutti uses `RESERVED_TASK_IDS` itself in place of a task id, in session ids and refs. */
export const RESERVED_TASK_IDS = new Set(["main"]);

/** Document 004 defines the form, for example `local___orch_abc123_worker_task_001`. */
export function workerSessionId(runId: string, taskId: string, attempt: number, sessionPrefix: string): string {
  return `local_${sessionPrefix}${withoutPrefix(runId)}_worker_${taskId}${attemptSuffix(attempt, taskId)}`;
}

export function mainSessionId(runId: string, attempt: number, sessionPrefix: string): string {
  return `local_${sessionPrefix}${withoutPrefix(runId)}_main${attemptSuffix(attempt, "main")}`;
}

/** The default `sessionPrefix` already contains `orch_`. */
function withoutPrefix(runId: string): string {
  return runId.replace(/^orch_/, "");
}

/** A first attempt has no suffix, unless the task id itself ends like one: task `a_r1` is not the second attempt at `a`. */
function attemptSuffix(attempt: number, taskId: string): string {
  return attempt === 1 && !/_r\d+$/.test(taskId) ? "" : `_r${attempt - 1}`;
}

export const runBranch = (runId: string): string => `tutti/${runId}`;

export const attemptRef = (runId: string, name: string, attempt: number): string =>
  `refs/tutti/${pathName(runId)}/${pathName(name)}/${attempt}`;

/** Keeps the work of an attempt during a turn, until the snapshot at `ref` replaces it. */
export const savedRef = (ref: string): string => `${ref}-saved`;

/**
 * Maps an id to a unique name that is safe as one component of a path or git ref. Ordinary ids stay readable. Raw ids are
 * not safe: git rejects `..`, `.lock` and a trailing dot, and some file systems ignore case.
 */
export function pathName(id: string): string {
  const plain = /^[a-z0-9][a-z0-9_-]*$/.test(id) && !id.includes("--") && id.length <= 60;
  return plain
    ? id
    : `${id
        .toLowerCase()
        .replaceAll(/[^a-z0-9_-]/g, "-")
        .slice(0, 40)}--${shortHash(id)}`;
}

/** 64-bit FNV-1a. It also runs in browsers, and its collision risk is negligible for the ids of one run. */
function shortHash(text: string): string {
  let hash = 0xcbf29ce484222325n;
  for (const byte of new TextEncoder().encode(text)) hash = BigInt.asUintN(64, (hash ^ BigInt(byte)) * 0x100000001b3n);
  return hash.toString(36);
}
