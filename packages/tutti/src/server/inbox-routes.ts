// The routes of what waits for a person.
import { Hono } from "hono";
import { z } from "zod";
import { itemsAfter, limitQuery, readBody, readQuery, type Bindings } from "./decode.ts";
import { inboxOf, runOfPlan } from "./encode-run.ts";
import type { Engine } from "../engine/engine.ts";
import { TuttiError } from "../schema/error.ts";

const Answer = z.union([
  z.strictObject({ text: z.string() }),
  z.strictObject({ approve: z.boolean() }),
  z.strictObject({ data: z.record(z.string(), z.unknown()) }),
]);
const InboxQuery = z.object({ after: z.string().min(1).optional(), limit: limitQuery });

export function inboxRoutes(engine: Engine): Hono<Bindings> {
  const routes = new Hono<Bindings>();

  routes.get("/", (c) => {
    const { after, limit } = readQuery(c, InboxQuery);
    const items = engine
      .list()
      .flatMap(inboxOf)
      .sort((a, b) => (a.createdAt < b.createdAt ? -1 : Number(a.createdAt > b.createdAt)));
    return c.json(itemsAfter(items, after).slice(0, limit));
  });

  routes.post("/:itemId", async (c) => {
    const itemId = c.req.param("itemId");
    const answer = await readBody(c, Answer);
    const planned = runOfPlan(itemId);
    if (planned !== null) await settlePlan(engine, planned, answer);
    else if ("text" in answer) await engine.answer(itemId, answer.text);
    else if ("data" in answer) await engine.supply(itemId, answer.data);
    else throw new TuttiError("invalid_input", "a question is answered with text");
    return c.json({ success: true });
  });

  return routes;
}

async function settlePlan(engine: Engine, runId: string, answer: z.infer<typeof Answer>): Promise<void> {
  const run = engine.get(runId);
  if (run === null) throw new TuttiError("item_not_found", `nothing waits under plan_${runId}`);
  if (!("approve" in answer))
    throw new TuttiError("invalid_input", "a plan is approved or not, not answered with text");
  // Without this look a late "no" to a plan that was confirmed meanwhile would end the work on it.
  if (run.status !== "confirming") {
    throw new TuttiError("wrong_state", `the plan of ${runId} no longer waits: the run is ${run.status}`);
  }
  await (answer.approve ? engine.confirm(runId) : engine.cancel(runId));
}
