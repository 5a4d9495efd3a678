// Names: runs, tasks and sessions. A session's name is the same everywhere (TUTTI_SESSION_KEY, WorkerState.sessionId,
// `:sessionId` and `:key` of the routes); what a backend calls its session is kept apart.
import { z } from "zod";

export const RunId = z.string().regex(/^orch_[a-z0-9]{12}$/, "a run id is orch_ and twelve characters of a-z and 0-9");

/** Any id an agent may invent for a task, as long as it can be shown, matched and quoted without surprises. */
export const TaskId = z
  .string()
  .regex(/^[A-Za-z0-9][A-Za-z0-9_.-]{0,99}$/, "a task id is 1 to 100 characters of A-Z, a-z, 0-9, _, . and -");

/** Task names that Tutti uses itself, in session names and refs. */
export const RESERVED_TASK_IDS = new Set(["main"]);

/** What the documents print as `local___orch_abc123_worker_task_001`: `local_`, the template's prefix, the run, the task. */
export function workerSessionId(runId: string, taskId: string, attempt: number, sessionPrefix: string): string {
  return `local_${sessionPrefix}${withoutPrefix(runId)}_worker_${taskId}${attemptSuffix(attempt, taskId)}`;
}

export function mainSessionId(runId: string, attempt: number, sessionPrefix: string): string {
  return `local_${sessionPrefix}${withoutPrefix(runId)}_main${attemptSuffix(attempt, "main")}`;
}

/** A run id already begins with `orch_`, which the prefix says too. */
function withoutPrefix(runId: string): string {
  return runId.replace(/^orch_/, "");
}

/** A first attempt has no suffix, unless the task's own id looks as if it had one: `a_r1` is not the second try of `a`. */
function attemptSuffix(attempt: number, taskId: string): string {
  return attempt === 1 && !/_r\d+$/.test(taskId) ? "" : `_r${attempt - 1}`;
}

/** The branch that holds a run's result. */
export const runBranch = (runId: string): string => `tutti/${runId}`;

/** Where what one attempt left stays reachable. */
export const attemptRef = (runId: string, name: string, attempt: number): string =>
  `refs/tutti/${pathName(runId)}/${pathName(name)}/${attempt}`;

/**
 * A name that is safe as one component of a path or of a git ref, different for different ids, and readable for
 * ordinary ones. Ids are never used raw in paths: git refuses `..`, `.lock` and a dot at the end, and some file systems
 * do not tell upper from lower case.
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

/** FNV-1a in 64 bits: small, the same in a browser, and enough to tell the ids of one run apart. */
function shortHash(text: string): string {
  let hash = 0xcbf29ce484222325n;
  for (const byte of new TextEncoder().encode(text)) hash = BigInt.asUintN(64, (hash ^ BigInt(byte)) * 0x100000001b3n);
  return hash.toString(36);
}
