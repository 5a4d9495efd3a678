// Finished workers are most of a stored state, and most of their members have the same value in all of them.
// `shortened` leaves these out, so that a snapshot takes less time and space. `completed` restores the worker with its
// members in the same order.
import { taskOf } from "../../run/lookup.ts";
import { NO_USAGE } from "../../schema/outcome.ts";
import type { Run } from "../../schema/run.ts";
import type { Task } from "../../schema/task.ts";
import { NO_TOOLS, type SessionState, type Worker } from "../../schema/worker.ts";

/** Stands for a member that `completed` finds elsewhere. */
const ELSEWHERE = Symbol("elsewhere");
/** Stands for a member that has no usual value. */
const NONE = Symbol("none");

/** The members that a value always has, in order, with their usual values. */
type Form<T> = { readonly [Name in keyof T]?: T[Name] | typeof ELSEWHERE | typeof NONE };

const OF_WORKER: Form<Worker> = {
  sessionId: NONE,
  orchestratorId: ELSEWHERE,
  taskId: NONE,
  task: ELSEWHERE,
  status: "completed",
  attempt: 1,
  session: ELSEWHERE,
  owed: null,
  progress: 100,
  currentAction: null,
  toolStats: ELSEWHERE,
  endedTools: NO_TOOLS,
  usage: NO_USAGE,
  output: null,
  outputFiles: NONE,
  outputPreview: NONE,
  error: null,
  errorCode: null,
  partial: false,
  retryCount: 0,
  notBefore: null,
  pausedBy: null,
  losses: 0,
  anew: false,
  reused: null,
  commit: NONE,
  merged: "merged",
  startedAt: NONE,
  completedAt: NONE,
  lastActivityAt: NONE,
};

const OF_SESSION: Form<SessionState> = {
  sessionId: ELSEWHERE,
  attempt: 1,
  agent: NONE,
  role: "worker",
  start: NONE,
  state: "over",
  turns: 1,
  turn: null,
  waitedMs: 0,
  pausedAt: null,
  refusedSince: null,
  asks: NONE,
};

/** `model` has its place between the others. */
const OF_SESSION_WITH_MODEL: Form<SessionState> = (() => {
  const { sessionId, attempt, agent, role, ...rest } = OF_SESSION;
  return { sessionId, attempt, agent, role, model: NONE, ...rest };
})();

const formOf = (session: Partial<SessionState>): Form<SessionState> =>
  "model" in session ? OF_SESSION_WITH_MODEL : OF_SESSION;

export type ShortWorker = Record<string, unknown> & Pick<Worker, "sessionId" | "taskId">;

/** Returns null for a worker that `completed` could not restore from its other members. */
export function shortened(run: Run, worker: Worker): ShortWorker | null {
  const { session } = worker;
  if (worker.orchestratorId !== run.id || worker.task !== taskOf(run, worker.taskId)) return null;
  if (session.sessionId !== worker.sessionId) return null;
  const short = without(worker, OF_WORKER);
  const ofSession = without(session, formOf(session));
  if (short === null || ofSession === null) return null;
  short["session"] = ofSession;
  if (worker.toolStats !== worker.endedTools) short["toolStats"] = worker.toolStats;
  return short as ShortWorker;
}

const entries = new WeakMap<object, [string, unknown][]>();

/** Returns null unless `value` begins with the members of `form` in the same order. */
function without<T extends object>(value: T, form: Form<T>): Record<string, unknown> | null {
  const members = entries.get(form) ?? Object.entries(form);
  entries.set(form, members);
  const rest: Record<string, unknown> = {};
  let at = 0;
  for (const name in value) {
    // JSON would drop it, and `completed` would add a value.
    if (value[name] === undefined) return null;
    if (at < members.length) {
      const [expected, usual] = members[at++]!;
      if (name !== expected) return null;
      if (usual === ELSEWHERE || usual === value[name]) continue;
    }
    rest[name] = value[name];
  }
  return at === members.length ? rest : null;
}

export function completed(runId: string, task: Task, short: ShortWorker): Worker {
  const { session, toolStats, ...rest } = short as ShortWorker & { session: Partial<SessionState> };
  const worker = { ...OF_WORKER, ...rest } as Worker;
  worker.orchestratorId = runId;
  worker.task = task;
  worker.toolStats = (toolStats as Worker["toolStats"] | undefined) ?? worker.endedTools;
  worker.session = { ...formOf(session), ...session, sessionId: short.sessionId } as SessionState;
  return worker;
}
