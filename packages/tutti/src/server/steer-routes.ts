// The routes by which a person steers a run: decode, one engine call, encode.
import { Hono } from "hono";
import { z } from "zod";
import { readBody, readQuery, type Bindings } from "./decode.ts";
import { encodeConfirmed } from "./encode-confirmed.ts";
import { findRun } from "./run-routes.ts";
import type { Engine } from "../engine/engine.ts";
import { TaskId } from "../schema/ids.ts";
import { ChangedPlan } from "../schema/plan-changes.ts";

const words = z.string().refine((text) => text.trim() !== "", "some words");
/** Without a body the plan is confirmed as it stands. */
const PlanBody = ChangedPlan.prefault({});
const ChangesBody = z.strictObject({ text: words });
const RetryBody = z.strictObject({ taskId: TaskId });
const DecisionsBody = z.strictObject({
  decisions: z
    .array(
      z
        .strictObject({
          index: z.number().int().min(0),
          option: z.number().int().min(0).optional(),
          text: words.optional(),
        })
        .refine(({ option, text }) => (option === undefined) !== (text === undefined), "either an option or a text"),
    )
    .min(1),
});

const CleanupBody = z
  .strictObject({
    archiveWorkers: z.boolean().optional(),
    deleteWorkers: z.boolean().optional(),
    removeState: z.boolean().optional(),
  })
  .prefault({});
const flag = z
  .enum(["true", "false", "1", "0"])
  .transform((text) => text === "true" || text === "1")
  .optional();
/** The same in the address, for clients that send no body with DELETE. */
const CleanupQuery = z.strictObject({ archiveWorkers: flag, deleteWorkers: flag, removeState: flag });

export function steerRoutes(engine: Engine): Hono<Bindings> {
  const routes = new Hono<Bindings>();

  const orders = {
    start: (id: string) => engine.start(id),
    pause: (id: string) => engine.pause(id),
    resume: (id: string) => engine.resume(id),
    cancel: (id: string) => engine.cancel(id),
  };
  for (const [name, give] of Object.entries(orders)) {
    routes.post(`/:id/${name}`, async (c) => {
      await give(c.req.param("id"));
      return c.json({ success: true });
    });
  }

  routes.post("/:id/confirm-tasks", async (c) => {
    const { id } = findRun(engine, c.req.param("id"));
    const { modifications: tasks, hash, ...changes } = await readBody(c, PlanBody);
    return c.json(encodeConfirmed(await engine.confirm(id, { tasks, ...changes }, hash)));
  });

  routes.post("/:id/request-changes", async (c) => {
    const { id } = findRun(engine, c.req.param("id"));
    const { text } = await readBody(c, ChangesBody);
    await engine.requestChanges(id, text);
    return c.json({ success: true });
  });

  routes.post("/:id/decisions", async (c) => {
    const { id } = findRun(engine, c.req.param("id"));
    const { decisions } = await readBody(c, DecisionsBody);
    await engine.decide(id, decisions);
    return c.json({ success: true });
  });

  routes.post("/:id/retry", async (c) => {
    const { id } = findRun(engine, c.req.param("id"));
    const { taskId } = await readBody(c, RetryBody);
    await engine.retry(id, taskId);
    return c.json({ success: true });
  });

  routes.delete("/:id", async (c) => {
    const { id } = findRun(engine, c.req.param("id"));
    const asked = { ...readQuery(c, CleanupQuery), ...(await readBody(c, CleanupBody)) };
    await engine.cleanup(id, given(asked));
    return c.json({ success: true });
  });

  return routes;
}

/** What was said; the rest is the engine's to choose. */
function given<T extends object>(options: T): { [K in keyof T]?: NonNullable<T[K]> } {
  return Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined)) as never;
}
