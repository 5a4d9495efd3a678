// Sub-sessions as document 004 shows them: out of the log, times as dates.
import { TuttiError } from "../schema/error.ts";
import type { SubSessionUpdates } from "../schema/event.ts";
import type { SubSessionStatus } from "../schema/status.ts";
import type { SubSession } from "../run/sub-sessions.ts";

export interface SubSessionRelation {
  childSessionId: string;
  parentSessionId: string;
  taskToolId: string | null;
  createdAt: Date;
  lastActivityAt: Date;
  status: SubSessionStatus;
  lastAssistantMessage: string | null;
  messageCount: number;
  error: string | null;
  returnedAt?: Date;
  /** When it was put away; the status stays. */
  archivedAt?: Date;
  /** The run whose session the parent is, or is below. */
  orchestratorId?: string;
}

export function subSessionRelation(relation: SubSession): SubSessionRelation {
  const { since: _since, reported: _reported, createdAt, lastActivityAt, returnedAt, archivedAt, ...rest } = relation;
  return {
    ...rest,
    createdAt: new Date(createdAt),
    lastActivityAt: new Date(lastActivityAt),
    ...(returnedAt === undefined ? {} : { returnedAt: new Date(returnedAt) }),
    ...(archivedAt === undefined ? {} : { archivedAt: new Date(archivedAt) }),
  };
}

/** What can be said of a sub-session together with a new status. */
export type RelationUpdates = Partial<
  Pick<SubSessionRelation, "lastAssistantMessage" | "messageCount" | "error" | "lastActivityAt" | "returnedAt">
>;

const TEXTS = new Set(["lastAssistantMessage", "error"]);
const TIMES = new Set(["lastActivityAt", "returnedAt"]);

/** As the log has them. What the log has no place for is refused. */
export function readUpdates(updates: RelationUpdates): SubSessionUpdates | undefined {
  const given = Object.entries(updates).filter(([, value]) => value !== undefined);
  if (given.length === 0) return undefined;
  return Object.fromEntries(
    given.map(([name, value]) => {
      if (TIMES.has(name) && value instanceof Date) return [name, value.getTime()];
      const isText = TEXTS.has(name) && (typeof value === "string" || value === null);
      if (isText || (name === "messageCount" && typeof value === "number")) return [name, value];
      throw new TuttiError("invalid_input", `a sub-session has no ${name} that could be ${JSON.stringify(value)}`);
    }),
  );
}
