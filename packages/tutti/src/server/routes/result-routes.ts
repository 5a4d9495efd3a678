import type { Handlers } from "../handler.ts";
import { findRun, type RunRouteOptions } from "./run-routes.ts";
import type { RESULT_ROUTES } from "../../schema/api/result-routes.ts";

export function resultHandlers({ engine }: Pick<RunRouteOptions, "engine">): Handlers<keyof typeof RESULT_ROUTES> {
  return {
    "GET /api/orchestrator/:id/diff": ({ params, query }) => {
      const { id } = findRun(engine, params.id);
      const { stat, ...options } = query();
      return engine.diff(id, { ...options, stat: stat === "1" });
    },
    "POST /api/orchestrator/:id/merge": async ({ params, body }) => {
      const { id } = findRun(engine, params.id);
      return engine.mergeResult(id, await body());
    },
    "POST /api/orchestrator/:id/drop": ({ params }) => engine.dropResult(findRun(engine, params.id).id),
  };
}
