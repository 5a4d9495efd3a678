// The sessions that a person sees in a list. Those of workers are left out where the template says so.
import type { Backstage } from "./backstage.ts";
import { workersOf } from "../run/lookup.ts";
import type { Run } from "../schema/run.ts";

export interface ListedSession {
  sessionId: string;
  title: string | null;
  /** Null for a session of the controller that no run of ours has to do with. */
  orchestratorId: string | null;
  role: string | null;
  taskId: string | null;
}

export interface ListOptions {
  /** Those of workers too, whatever the template says. */
  includeHidden?: boolean;
}

type Own = ListedSession & { orchestratorId: string; isHidden: boolean };

/** Archived sessions are in no list. */
export async function listSessions(stage: Backstage, { includeHidden = false }: ListOptions): Promise<ListedSession[]> {
  const own = stage.engine.list().flatMap(sessionsOf);
  const shown = own
    .filter(({ isHidden }) => includeHidden || !isHidden)
    .filter(({ orchestratorId, sessionId }) => !stage.sessions.isArchived(orchestratorId, sessionId))
    .map(({ isHidden: _isHidden, ...session }) => session);
  return [...shown, ...(await foreignSessions(stage, own))];
}

/** What a controller has besides: its own names of our sessions are left out, hidden or not. */
async function foreignSessions({ polled }: Backstage, own: readonly Own[]): Promise<ListedSession[]> {
  if (polled === null) return [];
  const ours = new Set(own.map(({ orchestratorId, sessionId }) => polled.backendId(orchestratorId, sessionId)));
  const others = (await polled.listAll()).filter(({ id }) => !ours.has(id));
  return others.map(({ id, title }) => ({ sessionId: id, title, orchestratorId: null, role: null, taskId: null }));
}

function sessionsOf(run: Run): Own[] {
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
