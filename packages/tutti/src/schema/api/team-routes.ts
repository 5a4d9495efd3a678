import { z } from "zod";
import { IdPageQuery, words } from "./query.ts";
import type { RouteTable } from "./route.ts";
import { time } from "./run-values.ts";
import { MESSAGE_STATES, QueuedMessage } from "../team/team-message.ts";

const ListedMessage = QueuedMessage.extend({
  state: z.enum(MESSAGE_STATES),
  queuedAt: time,
  deliveredAt: time.nullable(),
  acknowledgedAt: time.nullable(),
  actedAt: time.nullable(),
  deliveries: z.number(),
  reasons: z.array(z.string()).optional(),
});

const GateState = z.object({
  environment: z.string(),
  state: z.enum(["closed", "open", "overridden"]),
  commit: z.string().nullable(),
  approvedBy: z.string().nullable(),
  approvedAt: time.nullable(),
  reasons: z.array(z.string()),
  overrides: z.array(z.object({ by: z.string(), reason: z.string(), at: time, commit: z.string() })),
});

export const TEAM_ROUTES = {
  "GET /api/orchestrator/:id/messages": {
    summary: "Returns the messages between the roles of a run, oldest first.",
    query: IdPageQuery,
    response: z.array(ListedMessage),
    errors: ["run_not_found"],
  },
  "GET /api/orchestrator/:id/gate": {
    summary: "Returns the security gate of each environment. Empty if the run deploys nothing.",
    query: IdPageQuery,
    response: z.array(GateState),
    errors: ["run_not_found"],
  },
  "POST /api/orchestrator/:id/gate/override": {
    summary: "Opens the gate of an environment without an approval, if the template allows it.",
    body: z.strictObject({ environment: z.string().min(1), reason: words }),
    response: z.array(GateState),
    errors: ["run_not_found", "wrong_state", "gate_closed"],
    role: "admin",
  },
} as const satisfies RouteTable;
