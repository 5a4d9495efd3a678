// What the routes that make runs and look at them do: one engine call, encode.
import type { AllowedFolders } from "./allowed-folders.ts";
import { itemsAfter } from "./decode.ts";
import { encodeState, encodeSummary } from "./encode-run.ts";
import { encodeTimeline } from "./encode-timeline.ts";
import { encodeUsage } from "./encode-usage.ts";
import { frameOf } from "./frame.ts";
import type { Handlers } from "./handler.ts";
import { RepeatableRequests } from "./repeatable-requests.ts";
import type { Engine } from "../engine/engine.ts";
import type { NewRun } from "../engine/new-run.ts";
import { runGraph } from "../engine/run-graph.ts";
import type { RUN_ROUTES } from "../schema/api/run-routes.ts";
import { TuttiError } from "../schema/error.ts";
import type { Run } from "../schema/run.ts";

export function findRun(engine: Engine, id: string): Run {
  const run = engine.get(id);
  if (run === null) throw new TuttiError("run_not_found", `there is no run ${id}`);
  return run;
}

export interface RunRouteOptions {
  engine: Engine;
  folders: AllowedFolders;
  /** For servers beyond loopback, where a request may not say which program to run. */
  onlyNamedAgents: boolean;
}

export function runHandlers({ engine, folders, onlyNamedAgents }: RunRouteOptions): Handlers<keyof typeof RUN_ROUTES> {
  const repeatable = new RepeatableRequests(engine);
  return {
    "POST /api/orchestrator": async ({ body, context }) => {
      const asked = await body();
      if (onlyNamedAgents) mustNameNoPrograms(asked, "beyond loopback");
      else if (context.get("holder")!.role !== "admin") mustNameNoPrograms(asked, "with a token that is not admin");
      folders.check(asked.cwd);
      const key = context.req.header("idempotency-key");
      const { isNew, answer } = await repeatable.create(asked, key, (root) => folders.check(root));
      return isNew ? answer : context.json(answer, 200);
    },
    "GET /api/orchestrator": ({ query }) => {
      const { status, full, after, limit } = query();
      const later = itemsAfter(engine.summaries(), after, ({ id }) => id);
      const runs = later.filter((run) => status === undefined || run.status === status);
      const page = runs.slice(0, limit);
      return full === "1" ? page.map(({ id }) => encodeState(engine.get(id)!)) : page.map(encodeSummary);
    },
    "GET /api/orchestrator/:id": ({ params }) => encodeState(findRun(engine, params.id)),
    "GET /api/orchestrator/:id/events": ({ params, query }) => {
      const { id } = findRun(engine, params.id);
      return engine.events({ run: id, ...query() }).map(frameOf);
    },
    "GET /api/orchestrator/:id/result": async ({ params }) => engine.result(findRun(engine, params.id).id),
    "GET /api/orchestrator/:id/graph": ({ params }) => runGraph(findRun(engine, params.id)),
    "GET /api/orchestrator/:id/timeline": ({ params }) => {
      const { id } = findRun(engine, params.id);
      return encodeTimeline(engine.events({ run: id }));
    },
    "GET /api/orchestrator/:id/usage": ({ params }) => {
      const run = findRun(engine, params.id);
      return encodeUsage(run, engine.events({ run: run.id }));
    },
  };
}

/** Not everybody brings programs along: others choose among what is configured on this machine. */
function mustNameNoPrograms(asked: Pick<NewRun, "agent" | "config" | "trust">, when: string): void {
  const { agent, config, trust } = asked;
  if ([agent, config?.agent].some((name) => name?.includes(":"))) {
    throw new TuttiError("forbidden", `${when} a request may only name configured agents`);
  }
  if (trust !== undefined) {
    throw new TuttiError("forbidden", `${when} nobody can agree to what a project's template would run`);
  }
}
