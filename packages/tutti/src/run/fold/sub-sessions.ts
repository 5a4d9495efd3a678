// `SubSessions` is the state of all sub-sessions, folded from the server events.
//
// Invariants
// 1. `applySubSession` rejects no event. `decideSubSession` holds the rules.
// 2. All times come from the events, so the state is the same before and after a restart.
import type { EventData, RunEvent, ServerEvent } from "../../schema/event.ts";
import type { SubSessionStatus } from "../../schema/status.ts";

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
  /** Time of the last change of `status`. */
  since: number;
  returnedAt?: number;
  /** Archiving does not change the status. */
  archivedAt?: number;
  orchestratorId?: string;
  /** Set if only the parent's agent reports its end; the server cannot poll it. */
  reported?: true;
}

export interface SubSessions {
  relations: Map<string, SubSession>;
  /** Unregistered sub-sessions with `reported`, which the parent's agent may still report. */
  forgotten: Set<string>;
  /** Parents of which the transcripts are searched for new sub-sessions. */
  watched: Set<string>;
}

export const noSubSessions = (): SubSessions => ({ relations: new Map(), forgotten: new Set(), watched: new Set() });

export type SubSessionEvent = Extract<RunEvent, { type: `subsession:${string}` }>;

/** Whether the result can still be returned to `parentSessionId`. */
export const isOpen = ({ status }: SubSession): boolean =>
  status === "active" || status === "completing" || status === "completed";

export const childrenOf = ({ relations }: SubSessions, parentSessionId: string): SubSession[] =>
  [...relations.values()].filter((relation) => relation.parentSessionId === parentSessionId);

export function countByStatus(relations: Iterable<SubSession>): Record<SubSessionStatus, number> {
  const counts = { active: 0, completing: 0, completed: 0, returned: 0, orphaned: 0, error: 0 };
  for (const { status } of relations) counts[status]++;
  return counts;
}

/** Ancestors of `sessionId`, nearest first. Stops at a cycle, which reports of agents can create. */
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

export const depthOf = (state: SubSessions, sessionId: string): number => above(state, sessionId).length;

export const rootOf = (state: SubSessions, sessionId: string): string => above(state, sessionId).at(-1) ?? sessionId;

/** Unlike `apply`, mutates `state`. */
export function applySubSession(state: SubSessions, event: ServerEvent): void {
  if (event.type === "subsession:registered") {
    state.relations.set(event.data.childSessionId, born(event.data));
    state.forgotten.delete(event.data.childSessionId);
    return;
  }
  if (event.type === "subsession:watched") state.watched.add(event.data.parentSessionId);
  if (event.type === "subsession:unwatched") state.watched.delete(event.data.parentSessionId);
  if (!("childSessionId" in event.data)) return;
  const { childSessionId } = event.data;
  const relation = state.relations.get(childSessionId);
  if (!relation) return;
  if (event.type === "subsession:unregistered") {
    state.relations.delete(childSessionId);
    if (relation.reported) state.forgotten.add(childSessionId);
  } else {
    state.relations.set(childSessionId, changed(relation, event as SubSessionEvent));
  }
}

type Registered = EventData<"subsession:registered">;

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
      // Another attempt to return the result clears the last `error`.
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
