import type { AnyHandler, Handlers } from "../handler.ts";
import { findRun, mustBeNamedAgents, type RunRouteOptions } from "./run-routes.ts";
import { restrictionOf } from "../access/restriction.ts";
import { countConfirmed } from "../../engine/sub-sessions/count-confirmed.ts";
import { orderKey, ORDERS, type OrderKey, type OrderName } from "../../schema/api/orders.ts";
import type { ChangedPlan } from "../../schema/plan-changes.ts";
import type { STEER_ROUTES } from "../../schema/api/steer-routes.ts";

export const DONE = { success: true } as const;

export function steerHandlers({
  engine,
  onlyNamedAgents,
}: Pick<RunRouteOptions, "engine" | "onlyNamedAgents">): Handlers<keyof typeof STEER_ROUTES> {
  const order =
    (name: OrderName): AnyHandler =>
    async ({ params, body, context }) => {
      const { id } = findRun(engine, params["id"]!);
      const input = "body" in ORDERS[name] ? await body() : undefined;
      if (name === "confirm" || name === "edit") {
        const { modifications, added } = input as Pick<ChangedPlan, "modifications" | "added">;
        const agents = [...Object.values(modifications), ...added].map(({ agent }) => agent);
        const restricted = restrictionOf(onlyNamedAgents, context);
        if (restricted !== null) mustBeNamedAgents(agents, restricted);
      }
      const run = await engine.order(id, name, input as never);
      return name === "confirm" ? countConfirmed(run) : DONE;
    };
  const names = Object.keys(ORDERS) as OrderName[];
  return {
    ...(Object.fromEntries(names.map((name) => [orderKey(name), order(name)])) as unknown as Handlers<
      OrderKey<OrderName>
    >),
    "POST /api/orchestrator/:id/activate": async ({ params }) => {
      await engine.activate(findRun(engine, params.id).id);
      return DONE;
    },
    "DELETE /api/orchestrator/:id": async ({ params, query, body }) => {
      const { id } = findRun(engine, params.id);
      await engine.cleanup(id, definedMembers({ ...query(), ...(await body()) }));
      return DONE;
    },
  };
}

/** `definedMembers` drops undefined members, so that defaults, or members of another object, apply. */
export function definedMembers<T extends object>(options: T): { [K in keyof T]?: NonNullable<T[K]> } {
  return Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined)) as never;
}
