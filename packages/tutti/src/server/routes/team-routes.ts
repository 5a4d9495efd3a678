import { pageOf } from "../decode.ts";
import { TOKEN_NAME_HEADER, tokenNameOf } from "../access/holder.ts";
import type { Handlers } from "../handler.ts";
import { iso, isoOrNull } from "./encode-run.ts";
import { findRun } from "./run-routes.ts";
import type { Engine } from "../../engine/engine.ts";
import type { TEAM_ROUTES } from "../../schema/api/team-routes.ts";
import type { TeamMessage } from "../../schema/team/team-message.ts";

export function teamHandlers({ engine }: { engine: Engine }): Handlers<keyof typeof TEAM_ROUTES> {
  const gate = (id: string) =>
    engine.gate(id).map(({ approvedAt, overrides, ...view }) => ({
      ...view,
      approvedAt: isoOrNull(approvedAt),
      overrides: overrides.map(({ at, ...override }) => ({ ...override, at: iso(at) })),
    }));
  return {
    "GET /api/orchestrator/:id/messages": ({ params, query }) => {
      const { teamMessages = [] } = findRun(engine, params.id);
      return pageOf(teamMessages, query(), ({ id }) => id).map(encodeMessage);
    },
    "GET /api/orchestrator/:id/gate": ({ params, query }) =>
      pageOf(gate(findRun(engine, params.id).id), query(), ({ environment }) => environment),
    "POST /api/orchestrator/:id/gate/override": async ({ params, body, context }) => {
      const { id } = findRun(engine, params.id);
      const { environment, reason } = await body();
      const by = tokenNameOf(context.get("holder"), context.req.header(TOKEN_NAME_HEADER)) ?? "the user";
      await engine.overrideGate(id, environment, by, reason);
      return gate(id);
    },
  };
}

function encodeMessage({ queuedAt, deliveredAt, acknowledgedAt, actedAt, ...message }: TeamMessage) {
  const times = { deliveredAt: isoOrNull(deliveredAt), acknowledgedAt: isoOrNull(acknowledgedAt) };
  return { ...message, queuedAt: iso(queuedAt), ...times, actedAt: isoOrNull(actedAt) };
}
