// The routes of what waits for a person.
import { Hono } from "hono";
import { z } from "zod";
import { itemsAfter, limitQuery, readBody, readQuery, type Bindings } from "./decode.ts";
import { encodeItem } from "./encode-run.ts";
import type { Engine } from "../engine/engine.ts";
import { PersonAnswer } from "../schema/inbox.ts";

const InboxQuery = z.object({ after: z.string().min(1).optional(), limit: limitQuery });

export function inboxRoutes(engine: Engine): Hono<Bindings> {
  const routes = new Hono<Bindings>();

  routes.get("/", (c) => {
    const { after, limit } = readQuery(c, InboxQuery);
    const items = engine
      .summaries()
      .flatMap(({ inbox }) => inbox.map(encodeItem))
      .sort((a, b) => (a.createdAt < b.createdAt ? -1 : Number(a.createdAt > b.createdAt)));
    return c.json(itemsAfter(items, after).slice(0, limit));
  });

  routes.post("/:itemId", async (c) => {
    const itemId = c.req.param("itemId");
    const answer = await readBody(c, PersonAnswer);
    await engine.answer(itemId, answer);
    return c.json({ success: true });
  });

  return routes;
}
