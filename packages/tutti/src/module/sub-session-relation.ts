// `subSessionRelation` is a sub-session in the form of document 004: the state folded from the log, with times as
// `Date`.
import { TuttiError } from "../schema/error.ts";
import type { SubSessionUpdates } from "../schema/event.ts";
import type { SubSession } from "../run/fold/sub-sessions.ts";

type Times = "createdAt" | "lastActivityAt" | "returnedAt" | "archivedAt";

/** `orchestratorId` is the run that `parentSessionId` belongs to, directly or through its own parents. */
export interface SubSessionRelation extends Omit<SubSession, Times | "since" | "reported"> {
  createdAt: Date;
  lastActivityAt: Date;
  returnedAt?: Date;
  /** When the session was archived; `status` does not change. */
  archivedAt?: Date;
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

export type RelationUpdates = Partial<
  Pick<SubSessionRelation, "lastAssistantMessage" | "messageCount" | "error" | "lastActivityAt" | "returnedAt">
>;

const TEXTS = new Set(["lastAssistantMessage", "error"]);
const TIMES = new Set(["lastActivityAt", "returnedAt"]);

/** Converts `updates` to the form of the log. Throws for members that the log does not have. */
export function readUpdates(updates: RelationUpdates): SubSessionUpdates | undefined {
  const given = Object.entries(updates).filter(([, value]) => value !== undefined);
  if (given.length === 0) return undefined;
  return Object.fromEntries(
    given.map(([name, value]) => {
      if (TIMES.has(name) && value instanceof Date) return [name, value.getTime()];
      const isText = TEXTS.has(name) && (typeof value === "string" || value === null);
      if (isText || (name === "messageCount" && typeof value === "number")) return [name, value];
      const problem = `A sub-session cannot have the "${name}" ${JSON.stringify(value)}.`;
      throw new TuttiError("invalid_input", `${problem} Leave it out or correct it.`);
    }),
  );
}
