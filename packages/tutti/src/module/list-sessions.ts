// `listSessions` is for users: sessions of workers are hidden if the template sets `hideWorkersFromList`.
import type { SharedEngine } from "./shared-engine.ts";
import { workersOf } from "../run/lookup.ts";
import type { Run } from "../schema/run.ts";

export interface ListedSession {
  sessionId: string;
  title: string | null;
  /** Null for a session of the controller that belongs to no run. */
  orchestratorId: string | null;
  role: string | null;
  taskId: string | null;
}

export interface ListOptions {
  includeHidden?: boolean;
}

type RunSession = ListedSession & { orchestratorId: string; isHidden: boolean };

/** Leaves out archived sessions, also with `includeHidden`. */
export async function listSessions(
  shared: SharedEngine,
  { includeHidden = false }: ListOptions,
): Promise<ListedSession[]> {
  const runSessions = shared.engine.list().flatMap(sessionsOf);
  const listed = runSessions
    .filter(({ isHidden }) => includeHidden || !isHidden)
    .filter(({ orchestratorId, sessionId }) => !shared.sessions.isArchived(orchestratorId, sessionId))
    .map(({ isHidden: _isHidden, ...session }) => session);
  return [...listed, ...(await foreignSessions(shared, runSessions))];
}

/**
 * Returns sessions of the controller that belong to no run. `runSessions` includes hidden ones, so these are left out
 * too.
 */
async function foreignSessions({ polled }: SharedEngine, runSessions: readonly RunSession[]): Promise<ListedSession[]> {
  if (polled === null) return [];
  const runSessionIds = new Set(
    runSessions.map(({ orchestratorId, sessionId }) => polled.backendId(orchestratorId, sessionId)),
  );
  const others = (await polled.listAll()).filter(({ id }) => !runSessionIds.has(id));
  return others.map(({ id, title }) => ({ sessionId: id, title, orchestratorId: null, role: null, taskId: null }));
}

function sessionsOf(run: Run): RunSession[] {
  const { id, main, template } = run;
  const isHidden = template.config.hideWorkersFromList;
  const mains = main ? [{ ...main, taskId: null, title: `[Orchestrator] ${template.name}`, isHidden: false }] : [];
  const workers = workersOf(run).map(({ session, taskId, task }) => {
    return { ...session, taskId, title: `[Worker] ${task.title}`, isHidden };
  });
  return [...mains, ...workers].map(({ sessionId, title, role, taskId, isHidden }) => {
    return { sessionId, title, orchestratorId: id, role, taskId, isHidden };
  });
}
