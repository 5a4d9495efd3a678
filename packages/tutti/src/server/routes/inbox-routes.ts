import { pageOf } from "../decode.ts";
import { encodeItem } from "./encode-run.ts";
import type { Handlers } from "../handler.ts";
import { DONE } from "./steer-routes.ts";
import type { Engine } from "../../engine/engine.ts";
import type { INBOX_ROUTES } from "../../schema/api/inbox-routes.ts";

export function inboxHandlers(engine: Engine): Handlers<keyof typeof INBOX_ROUTES> {
  return {
    "GET /api/inbox": ({ query }) => {
      const items = engine
        .summaries()
        .flatMap(({ inbox }) => inbox.map(encodeItem))
        .sort((a, b) => (a.createdAt < b.createdAt ? -1 : Number(a.createdAt > b.createdAt)));
      return pageOf(items, query(), ({ id }) => id);
    },
    "POST /api/inbox/:itemId": async ({ params, body }) => {
      const { itemId } = params;
      await engine.answer(itemId, await body());
      return DONE;
    },
  };
}
