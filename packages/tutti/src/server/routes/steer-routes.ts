// Handlers of the routes that start, pause, resume, cancel, confirm and delete runs.
import type { Handlers } from "../handler.ts";
import { findRun } from "./run-routes.ts";
import { countConfirmed } from "../../engine/sub-sessions/count-confirmed.ts";
import type { Engine } from "../../engine/engine.ts";
import type { STEER_ROUTES } from "../../schema/api/steer-routes.ts";

export const DONE = { success: true } as const;

export function steerHandlers(engine: Engine): Handlers<keyof typeof STEER_ROUTES> {
  return {
    "POST /api/orchestrator/:id/start": async ({ params }) => {
      await engine.start(params.id);
      return DONE;
    },
    "POST /api/orchestrator/:id/pause": async ({ params }) => {
      await engine.pause(params.id);
      return DONE;
    },
    "POST /api/orchestrator/:id/resume": async ({ params }) => {
      await engine.resume(params.id);
      return DONE;
    },
    "POST /api/orchestrator/:id/cancel": async ({ params }) => {
      await engine.cancel(params.id);
      return DONE;
    },
    "POST /api/orchestrator/:id/confirm-tasks": async ({ params, body }) => {
      const { id } = findRun(engine, params.id);
      const { modifications: tasks, hash, ...changes } = await body();
      return countConfirmed(await engine.confirm(id, { tasks, ...changes }, hash));
    },
    "POST /api/orchestrator/:id/request-changes": async ({ params, body }) => {
      const { id } = findRun(engine, params.id);
      await engine.requestChanges(id, (await body()).text);
      return DONE;
    },
    "POST /api/orchestrator/:id/decisions": async ({ params, body }) => {
      const { id } = findRun(engine, params.id);
      await engine.decide(id, (await body()).decisions);
      return DONE;
    },
    "POST /api/orchestrator/:id/message": async ({ params, body }) => {
      const { id } = findRun(engine, params.id);
      const { text, taskId } = await body();
      await engine.message(id, text, taskId ?? null);
      return DONE;
    },
    "POST /api/orchestrator/:id/retry": async ({ params, body }) => {
      const { id } = findRun(engine, params.id);
      await engine.retry(id, (await body()).taskId);
      return DONE;
    },
    "DELETE /api/orchestrator/:id": async ({ params, query, body }) => {
      const { id } = findRun(engine, params.id);
      await engine.cleanup(id, definedMembers({ ...query(), ...(await body()) }));
      return DONE;
    },
  };
}

/** Drops undefined members, so that the engine applies its defaults. */
function definedMembers<T extends object>(options: T): { [K in keyof T]?: NonNullable<T[K]> } {
  return Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined)) as never;
}
