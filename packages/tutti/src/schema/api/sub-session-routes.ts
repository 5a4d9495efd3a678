// The routes of sub-sessions: sessions that others have started in their own way.
import { z } from "zod";
import { flag, IdPageQuery } from "./query.ts";
import type { RouteTable } from "./route.ts";
import { Done, time } from "./run-values.ts";
import { SUBSESSION_STATUS } from "../status.ts";

const statuses = Object.values(SUBSESSION_STATUS);
const sessionId = z.string().min(1).max(500);

/** SubSessionRelation of document 004. */
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
    summary: "Registers a session as started by another; one whose parent is not known is orphaned at the next look.",
    body: z.strictObject({
      childSessionId: sessionId,
      parentSessionId: sessionId,
      taskToolId: z.string().min(1).max(500).optional().describe("What the parent calls the use of its tool."),
    }),
    response: SubSessionRelation,
    errors: ["wrong_state", "budget_exhausted"],
  },
  "POST /api/subsession/watch/:parentSessionId": {
    summary: "Looks at a session from now on, and links what it starts.",
    response: Done,
    errors: ["session_not_found"],
  },
  "GET /api/subsession/parent/:parentSessionId": {
    summary: "What a session has started; `after` is the `childSessionId` of one.",
    query: IdPageQuery,
    response: z.array(SubSessionRelation),
    errors: ["session_not_found"],
  },
  "GET /api/subsession/stats": {
    summary: "How many sub-sessions there are, by status.",
    response: SubSessionStats,
    errors: [],
  },
  "POST /api/subsession/:childSessionId/force-return": {
    summary: "Gives what the sub-session said last to its parent now.",
    response: z.object({
      success: z.boolean(),
      message: z.string().describe("What it said last; where it failed, why."),
      alreadyReturned: z.boolean().optional(),
      orphaned: z.boolean().optional().describe("There is no such parent any more."),
      formatted: z.string().optional().describe("What the parent was told."),
    }),
    errors: ["session_not_found", "wrong_state"],
  },
  "DELETE /api/subsession/:childSessionId": {
    summary: "Forgets a sub-session; with `archiveSession` the session itself is put away too.",
    query: z.strictObject({ archiveSession: flag.optional() }),
    body: z.strictObject({ archiveSession: z.boolean().optional() }).prefault({}),
    response: Done,
    errors: ["session_not_found", "wrong_state"],
  },
} as const satisfies RouteTable;
