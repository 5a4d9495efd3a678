// The routes of what waits for a person.
import { z } from "zod";
import { IdPageQuery } from "./query.ts";
import type { RouteTable } from "./route.ts";
import { Done, WaitingItem } from "./run-values.ts";
import { PersonAnswer } from "../inbox.ts";

export const INBOX_ROUTES = {
  "GET /api/inbox": {
    summary: "Everything that waits for a person, oldest first.",
    query: IdPageQuery,
    response: z.array(WaitingItem),
    errors: [],
  },
  "POST /api/inbox/:itemId": {
    summary: "Answers an item, once; which form of answer it takes depends on its kind.",
    body: PersonAnswer,
    response: Done,
    errors: ["item_not_found", "wrong_state", "needs_answer", "invalid_plan"],
  },
} as const satisfies RouteTable;
