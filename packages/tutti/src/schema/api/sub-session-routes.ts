import { z } from "zod";
import { flag, IdPageQuery } from "./query.ts";
import type { RouteTable } from "./route.ts";
import { Done, time } from "./run-values.ts";
import { SUBSESSION_STATUS } from "../status.ts";

const statuses = Object.values(SUBSESSION_STATUS);
const sessionId = z.string().min(1).max(500);

/** `SubSessionRelation` of document 004. */
export const SubSessionRelation = z.looseObject({
  childSessionId: z.string(),
  parentSessionId: z.string(),
  taskToolId: z.string().nullable(),
  status: z.enum(statuses as [(typeof statuses)[number]]),
  lastAssistantMessage: z.string().nullable(),
  messageCount: z.number(),
  error: z.string().nullable(),
  createdAt: time,
  lastActivityAt: time,
  returnedAt: time.optional(),
  archivedAt: time.optional(),
  orchestratorId: z.string().optional(),
});

const SubSessionStats = z.object({
  total: z.number(),
  byStatus: z.object({
    active: z.number(),
    completing: z.number(),
    completed: z.number(),
    returned: z.number(),
    orphaned: z.number(),
    error: z.number(),
  }),
  parents: z.number(),
  pendingTaskSpawns: z.number(),
  isMonitoring: z.boolean(),
});

export const SUB_SESSION_ROUTES = {
  "POST /api/subsession/register": {
    summary:
      "Registers a session as the sub-session of another. It is orphaned at the next poll if the parent is unknown.",
    body: z.strictObject({
      childSessionId: sessionId,
      parentSessionId: sessionId,
      taskToolId: z
        .string()
        .min(1)
        .max(500)
        .optional()
        .describe("The parent's id for the tool call that started the session."),
    }),
    response: SubSessionRelation,
    errors: ["wrong_state", "budget_exhausted"],
  },
  "POST /api/subsession/watch/:parentSessionId": {
    summary: "Starts to poll a session and registers the sub-sessions that it starts.",
    response: Done,
    errors: ["session_not_found"],
  },
  "GET /api/subsession/parent/:parentSessionId": {
    summary: "Lists the sub-sessions of a session. `after` is a `childSessionId`.",
    query: IdPageQuery,
    response: z.array(SubSessionRelation),
    errors: ["session_not_found"],
  },
  "GET /api/subsession/stats": {
    summary: "Returns the number of sub-sessions by status.",
    response: SubSessionStats,
    errors: [],
  },
  "POST /api/subsession/:childSessionId/force-return": {
    summary: "Returns the last message of the sub-session to its parent now.",
    response: z.object({
      success: z.boolean(),
      message: z.string().describe("The last message, or the reason of a failure."),
      alreadyReturned: z.boolean().optional(),
      orphaned: z.boolean().optional().describe("True if the parent no longer exists."),
      formatted: z.string().optional().describe("The text that was sent to the parent."),
    }),
    errors: ["session_not_found", "wrong_state"],
  },
  "DELETE /api/subsession/:childSessionId": {
    summary: "Unregisters a sub-session. With `archiveSession` the session itself is archived too.",
    query: z.strictObject({ archiveSession: flag.optional() }),
    body: z.strictObject({ archiveSession: z.boolean().optional() }).prefault({}),
    response: Done,
    errors: ["session_not_found", "wrong_state"],
  },
} as const satisfies RouteTable;
