// Rules for sub-sessions. `decideSubSession` throws a `TuttiError` for a rejected command and changes nothing. A
// session has at most one open parent. `register` never makes a session its own ancestor.
import {
  depthOf,
  isAbove,
  isOpen,
  type SubSession,
  type SubSessionEvent,
  type SubSessions,
} from "../fold/sub-sessions.ts";
import { TuttiError } from "../../schema/error.ts";
import type { SubSessionUpdates } from "../../schema/event.ts";
import type { SubagentEnd, SubSessionStatus } from "../../schema/status.ts";

/** Allowed changes of status. `orphaned` and `error` are also allowed from every status. */
const NEXT: Record<SubSessionStatus, readonly SubSessionStatus[]> = {
  active: ["completing", "completed"],
  completing: ["active", "completed"],
  completed: ["returned"],
  // A failed return to the parent can be repeated.
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
      depth?: number | undefined;
    }
  /** `started` and `done` are reports of the parent's agent. They are never rejected, but may have no effect. */
  | {
      type: "started";
      childSessionId: string;
      parentSessionId: string;
      orchestratorId: string;
      taskToolId?: string | null;
    }
  | { type: "done"; childSessionId: string; text: string | null; status?: SubagentEnd }
  | { type: "setStatus"; childSessionId: string; status: SubSessionStatus; updates?: SubSessionUpdates }
  | { type: "active"; childSessionId: string; messageCount: number }
  | { type: "archived"; childSessionId: string }
  | { type: "unregister"; childSessionId: string }
  | { type: "watch"; parentSessionId: string }
  | { type: "unwatch"; parentSessionId: string };

export function decideSubSession(state: SubSessions, command: SubSessionCommand, at: number): SubSessionEvent[] {
  const timestamp = new Date(at).toISOString();
  if (command.type === "register") return register(state, command, timestamp);
  if (command.type === "started") return started(state, command, timestamp);
  if (command.type === "watch" || command.type === "unwatch") return watch(state, command, timestamp);
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
      if (!isOpen(relation)) throw wrongState(relation, "it can have no more activity", "Register a new one.");
      const activity: SubSessionEvent = { type: "subsession:activity", data: { ...both, messageCount, timestamp } };
      const reopened = relation.status === "completing" ? setStatus(relation, "active", undefined, timestamp) : [];
      return [activity, ...reopened];
    }
    case "archived":
      return relation.archivedAt === undefined
        ? [{ type: "subsession:archived", data: { childSessionId, timestamp } }]
        : [];
    case "unregister":
      return [{ type: "subsession:unregistered", data: { ...both, timestamp } }];
  }
}

function watch(
  { watched }: SubSessions,
  { type, parentSessionId }: Extract<SubSessionCommand, { type: "watch" | "unwatch" }>,
  timestamp: string,
): SubSessionEvent[] {
  const isWatched = watched.has(parentSessionId);
  if (isWatched === (type === "watch")) return [];
  return [{ type: isWatched ? "subsession:unwatched" : "subsession:watched", data: { parentSessionId, timestamp } }];
}

type Register = Extract<SubSessionCommand, { type: "register" }>;

function register(state: SubSessions, command: Register, timestamp: string): SubSessionEvent[] {
  const { childSessionId, parentSessionId, taskToolId = null, orchestratorId, depth } = command;
  const existing = state.relations.get(childSessionId);
  if (existing && isOpen(existing)) {
    // Registering twice is idempotent.
    if (existing.parentSessionId === parentSessionId) return [];
    throw wrongState(existing, `it already belongs to "${existing.parentSessionId}"`, "Unregister it first.");
  }
  if (childSessionId === parentSessionId || isAbove(state, childSessionId, parentSessionId))
    throw new TuttiError(
      "wrong_state",
      `Session "${childSessionId}" cannot be a sub-session of itself or of its own sub-session. Choose another parent.`,
    );
  const nested = depthOf(state, parentSessionId) + 1;
  if (depth !== undefined && nested > depth) {
    const message = `Sub-session "${childSessionId}" would have depth ${nested}, but the run allows ${depth}. Raise budget.depth.`;
    throw new TuttiError("budget_exhausted", message, { details: { kind: "depth", limit: depth } });
  }
  const run = orchestratorId === undefined ? {} : { orchestratorId };
  return [{ type: "subsession:registered", data: { childSessionId, parentSessionId, taskToolId, timestamp, ...run } }];
}

type Started = Extract<SubSessionCommand, { type: "started" }>;

/** An adopted session repeats its signals, so known and `forgotten` sub-sessions are ignored. */
function started(state: SubSessions, command: Started, timestamp: string) {
  const { childSessionId, parentSessionId, orchestratorId, taskToolId = null } = command;
  if (state.relations.has(childSessionId) || state.forgotten.has(childSessionId)) return [];
  const data = { childSessionId, parentSessionId, taskToolId, timestamp, orchestratorId, reported: true };
  return [{ type: "subsession:registered" as const, data }];
}

type Done = Extract<SubSessionCommand, { type: "done" }>;

/** The agent itself returns the result, or the failure, to its parent. */
function returned(relation: SubSession, { text, status = "completed" }: Done, timestamp: string): SubSessionEvent[] {
  if (status !== "completed") {
    const error = text || (status === "cancelled" ? "it was stopped" : "it failed");
    return setStatus(relation, "error", { error }, timestamp);
  }
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
    throw wrongState(relation, `it cannot become ${newStatus}`, "Choose another status.");
  const both = { childSessionId, parentSessionId };
  const known = updates === undefined ? {} : { updates };
  const change: SubSessionEvent = {
    type: "subsession:statusChanged",
    data: { ...both, previousStatus, newStatus, timestamp, ...known },
  };
  return [change, ...consequence({ ...relation, ...updates }, newStatus, timestamp)];
}

/** Document 004 defines an additional event for `returned`, `orphaned` and `error`. */
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
      const error = relation.error ?? "the result could not be read";
      return [{ type: "subsession:error", data: { ...both, error, timestamp } }];
    }
    default:
      return [];
  }
}

export const noSuchSubSession = (childSessionId: string): TuttiError =>
  new TuttiError("session_not_found", `Sub-session "${childSessionId}" does not exist. Register it first.`);

const wrongState = ({ childSessionId, status }: SubSession, why: string, advice: string): TuttiError =>
  new TuttiError("wrong_state", `Sub-session "${childSessionId}" is ${status}: ${why}. ${advice}`, {
    details: { status },
  });
