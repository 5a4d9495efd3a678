// What may become of the relations between sessions, and what follows from what is asked. A refusal has a code and changes
// nothing. A session is the child of one other at a time, and never its own ancestor.
import { depthOf, isAbove, isOpen, type SubSession, type SubSessionEvent, type SubSessions } from "./sub-sessions.ts";
import { TuttiError } from "../schema/error.ts";
import type { SubSessionUpdates } from "../schema/event.ts";
import type { SubSessionStatus } from "../schema/status.ts";

/** What a relation may become. To `orphaned` and `error` it may come from anywhere. */
const NEXT: Record<SubSessionStatus, readonly SubSessionStatus[]> = {
  active: ["completing", "completed"],
  completing: ["active", "completed"],
  completed: ["returned"],
  // What could not be handed over can be tried again.
  error: ["completed"],
  returned: [],
  orphaned: [],
};

export type SubSessionCommand =
  | {
      type: "register";
      childSessionId: string;
      parentSessionId: string;
      taskToolId?: string | undefined;
      orchestratorId?: string | undefined;
      /** How deep sub-sessions of the run may nest. */
      depth?: number | undefined;
    }
  /** What an agent tells of one that it has started itself; a report is never refused, at worst it is without effect. */
  | { type: "started"; childSessionId: string; parentSessionId: string; orchestratorId: string }
  | { type: "done"; childSessionId: string; text: string | null }
  | { type: "setStatus"; childSessionId: string; status: SubSessionStatus; updates?: SubSessionUpdates }
  | { type: "active"; childSessionId: string; messageCount: number }
  | { type: "archived"; childSessionId: string }
  | { type: "unregister"; childSessionId: string };

export function decideSubSession(state: SubSessions, command: SubSessionCommand, at: number): SubSessionEvent[] {
  const timestamp = new Date(at).toISOString();
  if (command.type === "register") return register(state, command, timestamp);
  if (command.type === "started") return started(state, command, timestamp);
  const relation = state.relations.get(command.childSessionId);
  if (command.type === "done")
    return relation?.reported && isOpen(relation) ? returned(relation, command, timestamp) : [];
  if (!relation) throw noSuchSubSession(command.childSessionId);
  const { childSessionId, parentSessionId } = relation;
  const both = { childSessionId, parentSessionId };
  switch (command.type) {
    case "setStatus":
      return setStatus(relation, command.status, command.updates, timestamp);
    case "active": {
      const { messageCount } = command;
      if (!isOpen(relation)) throw wrongState(relation, "nothing happens in it any more");
      const told: SubSessionEvent = { type: "subsession:activity", data: { ...both, messageCount, timestamp } };
      return relation.status === "completing" ? [told, ...setStatus(relation, "active", undefined, timestamp)] : [told];
    }
    case "archived":
      return relation.archivedAt === undefined
        ? [{ type: "subsession:archived", data: { childSessionId, timestamp } }]
        : [];
    case "unregister":
      return [{ type: "subsession:unregistered", data: { ...both, timestamp } }];
  }
}

type Register = Extract<SubSessionCommand, { type: "register" }>;

function register(state: SubSessions, command: Register, timestamp: string): SubSessionEvent[] {
  const { childSessionId, parentSessionId, taskToolId = null, orchestratorId, depth } = command;
  const before = state.relations.get(childSessionId);
  if (before && isOpen(before)) {
    // Told twice is told once.
    if (before.parentSessionId === parentSessionId) return [];
    throw wrongState(before, `it is a sub-session of ${before.parentSessionId} already`);
  }
  if (childSessionId === parentSessionId || isAbove(state, childSessionId, parentSessionId))
    throw new TuttiError("wrong_state", `${childSessionId} cannot be a sub-session of itself or of one below it`);
  const nested = depthOf(state, parentSessionId) + 1;
  if (depth !== undefined && nested > depth) {
    const message = `sub-sessions of this run may nest ${depth} deep, and ${childSessionId} would be ${nested} deep`;
    throw new TuttiError("budget_exhausted", message, { details: { kind: "depth", limit: depth } });
  }
  const run = orchestratorId === undefined ? {} : { orchestratorId };
  return [{ type: "subsession:registered", data: { childSessionId, parentSessionId, taskToolId, timestamp, ...run } }];
}

type Started = Extract<SubSessionCommand, { type: "started" }>;

/** A session that is adopted tells its whole story again; what is known of it is not told twice. */
function started(state: SubSessions, { childSessionId, parentSessionId, orchestratorId }: Started, timestamp: string) {
  if (state.relations.has(childSessionId) || state.forgotten.has(childSessionId)) return [];
  const data = { childSessionId, parentSessionId, taskToolId: null, timestamp, orchestratorId, reported: true };
  return [{ type: "subsession:registered" as const, data }];
}

function returned(relation: SubSession, { text }: { text: string | null }, timestamp: string): SubSessionEvent[] {
  const updates = { lastAssistantMessage: text };
  if (relation.status === "completed") return setStatus(relation, "returned", updates, timestamp);
  const completed = setStatus(relation, "completed", updates, timestamp);
  return [
    ...completed,
    ...setStatus({ ...relation, ...updates, status: "completed" }, "returned", undefined, timestamp),
  ];
}

function setStatus(
  relation: SubSession,
  newStatus: SubSessionStatus,
  updates: SubSessionUpdates | undefined,
  timestamp: string,
): SubSessionEvent[] {
  const { childSessionId, parentSessionId, status: previousStatus } = relation;
  if (newStatus === previousStatus) return [];
  const anywhere = newStatus === "orphaned" || newStatus === "error";
  if (!anywhere && !NEXT[previousStatus].includes(newStatus))
    throw wrongState(relation, `it cannot become ${newStatus}`);
  const both = { childSessionId, parentSessionId };
  const known = updates === undefined ? {} : { updates };
  const change: SubSessionEvent = {
    type: "subsession:statusChanged",
    data: { ...both, previousStatus, newStatus, timestamp, ...known },
  };
  return [change, ...consequence({ ...relation, ...updates }, newStatus, timestamp)];
}

/** The documents have names of their own for what some changes mean. */
function consequence(relation: SubSession, status: SubSessionStatus, timestamp: string): SubSessionEvent[] {
  const { childSessionId, parentSessionId } = relation;
  const both = { childSessionId, parentSessionId };
  switch (status) {
    case "returned": {
      const messageLength = relation.lastAssistantMessage?.length ?? 0;
      return [{ type: "subsession:resultReturned", data: { ...both, messageLength, timestamp } }];
    }
    case "orphaned":
      return [{ type: "subsession:orphaned", data: { ...both, timestamp } }];
    case "error": {
      const error = relation.error ?? "its result could not be had";
      return [{ type: "subsession:error", data: { ...both, error, timestamp } }];
    }
    default:
      return [];
  }
}

export const noSuchSubSession = (childSessionId: string): TuttiError =>
  new TuttiError("session_not_found", `there is no sub-session ${childSessionId}`);

const wrongState = ({ childSessionId, status }: SubSession, why: string): TuttiError =>
  new TuttiError("wrong_state", `sub-session ${childSessionId} is ${status}: ${why}`, { details: { status } });
