// The routes of runs: decode, one engine call, encode.
import { isAbsolute } from "node:path";
import { Hono } from "hono";
import { z } from "zod";
import { itemsAfter, limitQuery, PageQuery, readBody, readQuery, type Bindings } from "./decode.ts";
import { encodeState, encodeSummary } from "./encode-run.ts";
import { frameOf } from "./frame.ts";
import { encodeError } from "./encode-error.ts";
import type { Engine } from "../engine/engine.ts";
import { TuttiError } from "../schema/error.ts";
import type { Run } from "../schema/run.ts";
import { RUN_STATUSES } from "../schema/status.ts";
import { TemplateConfig } from "../schema/template.ts";

const settings = TemplateConfig.shape;
const NewRunBody = z.strictObject({
  templateId: z.string().min(1),
  cwd: z.string().refine(isAbsolute, "an absolute path"),
  message: z.string().refine((text) => text.trim() !== "", "a request in words"),
  agent: z.string().min(1).default("local"),
  customVariables: z.record(z.string(), z.string()).default({}),
  autoStart: z.boolean().default(false),
  // Without the defaults of the schema, which would override the template's own settings.
  config: z
    .strictObject({
      maxWorkers: settings.maxWorkers.unwrap().optional(),
      workerTimeout: settings.workerTimeout.unwrap().optional(),
      acceptWithoutWork: settings.acceptWithoutWork.unwrap().optional(),
    })
    .default({}),
});

const ListQuery = z.object({
  status: z.enum(RUN_STATUSES as [(typeof RUN_STATUSES)[number]]).optional(),
  full: z.enum(["0", "1"]).default("0"),
  after: z.string().min(1).optional(),
  limit: limitQuery,
});

/** Changes to the plan are not carried out yet, and what is not carried out is refused. */
const ConfirmBody = z.strictObject({ modifications: z.strictObject({}).optional() }).optional();

export function findRun(engine: Engine, id: string): Run {
  const run = engine.get(id);
  if (run === null) throw new TuttiError("run_not_found", `there is no run ${id}`);
  return run;
}

/** `onlyNamedAgents` for servers beyond loopback, where a request may not say which program to run. */
export function runRoutes(engine: Engine, onlyNamedAgents: boolean): Hono<Bindings> {
  const routes = new Hono<Bindings>();

  routes.post("/", async (c) => {
    // Ignoring it would make a second run of a repeated request, which is what it is sent to prevent.
    if (c.req.header("idempotency-key") !== undefined) {
      throw new TuttiError("invalid_input", "this version does not know Idempotency-Key; send the request without it");
    }
    const { autoStart, config, ...request } = await readBody(c, NewRunBody);
    if (onlyNamedAgents && request.agent.includes(":")) {
      throw new TuttiError("forbidden", "beyond loopback a request may only name configured agents");
    }
    const { id, status } = await engine.create({ ...request, config: given(config) });
    if (!autoStart) return c.json({ orchestratorId: id, status }, 201);
    return c.json({ orchestratorId: id, ...(await tryStart(engine, id)) }, 201);
  });

  routes.get("/", (c) => {
    const { status, full, after, limit } = readQuery(c, ListQuery);
    const runs = itemsAfter(engine.list(), after).filter((run) => status === undefined || run.status === status);
    const page = runs.slice(0, limit);
    return c.json(full === "1" ? page.map(encodeState) : page.map(encodeSummary));
  });

  routes.get("/:id", (c) => c.json(encodeState(findRun(engine, c.req.param("id")))));

  routes.post("/:id/start", async (c) => {
    await engine.start(c.req.param("id"));
    return c.json({ success: true });
  });

  routes.post("/:id/cancel", async (c) => {
    await engine.cancel(c.req.param("id"));
    return c.json({ success: true });
  });

  routes.post("/:id/confirm-tasks", async (c) => {
    findRun(engine, c.req.param("id"));
    await readBody(c, ConfirmBody);
    const { tasks, workers } = await engine.confirm(c.req.param("id"));
    const workersCreated = Object.values(workers).filter(({ session }) => session.state !== "spawning").length;
    return c.json({ workersCreated, tasksQueued: tasks.length - workersCreated, skipped: [] });
  });

  routes.get("/:id/events", (c) => {
    const { id } = findRun(engine, c.req.param("id"));
    return c.json(engine.events({ run: id, ...readQuery(c, PageQuery) }).map(frameOf));
  });

  routes.get("/:id/result", async (c) => c.json(await engine.result(c.req.param("id"))));

  return routes;
}

/** Settings that were sent; one that was left out must not hide the template's. */
function given<T extends object>(config: T): { [K in keyof T]?: NonNullable<T[K]> } {
  return Object.fromEntries(Object.entries(config).filter(([, value]) => value !== undefined)) as never;
}

/** The run exists by now, so the answer must say its name even if it could not be started. */
async function tryStart(engine: Engine, id: string): Promise<{ status: string; startError?: object }> {
  try {
    return { status: (await engine.start(id)).status };
  } catch (error) {
    return { status: findRun(engine, id).status, startError: encodeError(error).body.error };
  }
}
