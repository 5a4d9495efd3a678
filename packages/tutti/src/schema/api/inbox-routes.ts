import { z } from "zod";
import { IdPageQuery } from "./query.ts";
import type { RouteTable } from "./route.ts";
import { Done, WaitingItem } from "./run-values.ts";
import { PersonAnswer } from "../inbox.ts";

export const INBOX_ROUTES = {
  "GET /api/inbox": {
    summary: "Lists all open inbox items, oldest first.",
    query: IdPageQuery,
    response: z.array(WaitingItem),
    errors: [],
  },
  "POST /api/inbox/:itemId": {
    summary: "Answers an inbox item. The accepted form of the answer depends on the item's kind.",
    body: PersonAnswer,
    response: Done,
    errors: ["item_not_found", "wrong_state", "needs_answer", "invalid_plan"],
  },
} as const satisfies RouteTable;
