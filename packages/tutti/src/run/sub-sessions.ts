// The relations between sessions and those that they start: which there are, and where each stands. Their state follows from
// the events of the server's own log alone, so it is the same after every restart.
//
// Invariants
// 1. `applySubSession` never refuses: what stands in the log has happened. What may happen says decide-sub-session.ts.
// 2. Time comes out of the events themselves, so a state is the same before and after it has been written.
import type { RunEvent, ServerEvent } from "../schema/event.ts";
import type { SubSessionStatus } from "../schema/status.ts";

export interface SubSession {
  childSessionId: string;
  parentSessionId: string;
  taskToolId: string | null;
  status: SubSessionStatus;
  lastAssistantMessage: string | null;
  messageCount: number;
  error: string | null;
  createdAt: number;
  lastActivityAt: number;
  /** When the status became what it is. */
  since: number;
  returnedAt?: number;
  /** Put away; the status stays. */
  archivedAt?: number;
  /** The run whose session the parent is. */
  orchestratorId?: string;
  /** Its parent's agent tells of its end; nobody else can look at it. */
  reported?: true;
}

export interface SubSessions {
  relations: Map<string, SubSession>;
  /** Children whom somebody took out while their parent's agent may still tell of them. */
  forgotten: Set<string>;
}

export const noSubSessions = (): SubSessions => ({ relations: new Map(), forgotten: new Set() });

export type SubSessionEvent = Extract<RunEvent, { type: `subsession:${string}` }>;

/** Whether something is still to come of it. */
export const isOpen = ({ status }: SubSession): boolean =>
  status === "active" || status === "completing" || status === "completed";

export const childrenOf = ({ relations }: SubSessions, parentSessionId: string): SubSession[] =>
  [...relations.values()].filter((relation) => relation.parentSessionId === parentSessionId);

export function countByStatus(relations: Iterable<SubSession>): Record<SubSessionStatus, number> {
  const counts = { active: 0, completing: 0, completed: 0, returned: 0, orphaned: 0, error: 0 };
  for (const { status } of relations) counts[status]++;
  return counts;
}

/** Everybody above a session, the nearest first. Who is told to be above himself, by agents and people together, ends it. */
function above({ relations }: SubSessions, sessionId: string): string[] {
  const found = new Set<string>();
  for (let next = relations.get(sessionId); next && !found.has(next.parentSessionId);) {
    found.add(next.parentSessionId);
    next = relations.get(next.parentSessionId);
  }
  return [...found];
}

export const isAbove = (state: SubSessions, sessionId: string, other: string): boolean =>
  above(state, other).includes(sessionId);

/** How many levels a session is below one that is no sub-session. */
export const depthOf = (state: SubSessions, sessionId: string): number => above(state, sessionId).length;

/** The session at the top, which may be itself. */
export const rootOf = (state: SubSessions, sessionId: string): string => above(state, sessionId).at(-1) ?? sessionId;

/** Takes one event into the state, which is changed. */
export function applySubSession(state: SubSessions, event: ServerEvent): void {
  if (event.type === "subsession:registered") {
    state.relations.set(event.data.childSessionId, born(event.data));
    state.forgotten.delete(event.data.childSessionId);
    return;
  }
  if (!("childSessionId" in event.data)) return;
  const { childSessionId } = event.data;
  const before = state.relations.get(childSessionId);
  if (!before) return;
  if (event.type === "subsession:unregistered") {
    state.relations.delete(childSessionId);
    if (before.reported) state.forgotten.add(childSessionId);
  } else {
    state.relations.set(childSessionId, changed(before, event as SubSessionEvent));
  }
}

type Registered = Extract<RunEvent, { type: "subsession:registered" }>["data"];

function born({
  childSessionId,
  parentSessionId,
  taskToolId,
  timestamp,
  orchestratorId,
  reported,
}: Registered): SubSession {
  const at = Date.parse(timestamp);
  return {
    childSessionId,
    parentSessionId,
    taskToolId,
    status: "active",
    lastAssistantMessage: null,
    messageCount: 0,
    error: null,
    createdAt: at,
    lastActivityAt: at,
    since: at,
    ...(orchestratorId === undefined ? {} : { orchestratorId }),
    ...(reported ? { reported } : {}),
  };
}

function changed(before: SubSession, event: SubSessionEvent): SubSession {
  const at = Date.parse(event.data.timestamp);
  switch (event.type) {
    case "subsession:statusChanged": {
      const { newStatus: status, updates = {} } = event.data;
      const returned = status === "returned" ? { returnedAt: at } : {};
      // Whoever is tried again has no error any more, until there is a new one.
      const cleared = status === "error" ? {} : { error: null };
      return { ...before, ...cleared, status, since: at, ...returned, ...updates };
    }
    case "subsession:activity":
      return { ...before, messageCount: event.data.messageCount, lastActivityAt: at };
    case "subsession:error":
      return { ...before, error: event.data.error };
    case "subsession:archived":
      return { ...before, archivedAt: at };
    default:
      return before;
  }
}
