// The routes that make runs and look at them: decode, one engine call, encode.
import { Hono } from "hono";
import { z } from "zod";
import { itemsAfter, limitQuery, PageQuery, readBody, readQuery, type Bindings } from "./decode.ts";
import { encodeState, encodeSummary } from "./encode-run.ts";
import { frameOf } from "./frame.ts";
import { encodeError } from "./encode-error.ts";
import { mustNameNoPrograms, NewRunBody } from "./new-run-body.ts";
import type { Engine } from "../engine/engine.ts";
import { TuttiError } from "../schema/error.ts";
import type { Run } from "../schema/run.ts";
import { RUN_STATUSES } from "../schema/status.ts";

const ListQuery = z.object({
  status: z.enum(RUN_STATUSES as [(typeof RUN_STATUSES)[number]]).optional(),
  full: z.enum(["0", "1"]).default("0"),
  after: z.string().min(1).optional(),
  limit: limitQuery,
});

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
    const { autoStart, ...request } = await readBody(c, NewRunBody);
    if (onlyNamedAgents) mustNameNoPrograms(request);
    const { id, status } = await engine.create(request);
    if (!autoStart) return c.json({ orchestratorId: id, status }, 201);
    return c.json({ orchestratorId: id, ...(await tryStart(engine, id)) }, 201);
  });

  routes.get("/", (c) => {
    const { status, full, after, limit } = readQuery(c, ListQuery);
    const runs = itemsAfter(engine.summaries(), after).filter((run) => status === undefined || run.status === status);
    const page = runs.slice(0, limit);
    return c.json(full === "1" ? page.map(({ id }) => encodeState(engine.get(id)!)) : page.map(encodeSummary));
  });

  routes.get("/:id", (c) => c.json(encodeState(findRun(engine, c.req.param("id")))));

  routes.get("/:id/events", (c) => {
    const { id } = findRun(engine, c.req.param("id"));
    return c.json(engine.events({ run: id, ...readQuery(c, PageQuery) }).map(frameOf));
  });

  routes.get("/:id/result", async (c) => c.json(await engine.result(c.req.param("id"))));

  return routes;
}

/** The run exists by now, so the answer must say its name even if it could not be started. */
async function tryStart(engine: Engine, id: string): Promise<{ status: string; startError?: object }> {
  try {
    return { status: (await engine.start(id)).status };
  } catch (error) {
    return { status: findRun(engine, id).status, startError: encodeError(error).body.error };
  }
}
