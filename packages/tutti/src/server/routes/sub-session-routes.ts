// Responses show only relations that are stored on disk, hence `subSessionLog`.
import { pageOf } from "../decode.ts";
import { iso } from "./encode-run.ts";
import type { Handlers } from "../handler.ts";
import { definedMembers, DONE } from "./steer-routes.ts";
import type { Engine } from "../../engine/engine.ts";
import type { SubSessionLog } from "../../engine/sub-sessions/sub-session-log.ts";
import type { SUB_SESSION_ROUTES } from "../../schema/api/sub-session-routes.ts";
import { TuttiError } from "../../schema/error.ts";

export function subSessionHandlers(engine: Engine): Handlers<keyof typeof SUB_SESSION_ROUTES> {
  const { subSessions, subSessionLog } = engine;
  return {
    "POST /api/subsession/register": async ({ body }) => {
      const { childSessionId, parentSessionId, taskToolId } = await body();
      await subSessions.register(childSessionId, parentSessionId, taskToolId);
      return encodeSubSession(subSessionLog.stored.relations.get(childSessionId)!);
    },
    "POST /api/subsession/watch/:parentSessionId": async ({ params }) => {
      await subSessions.watch(params.parentSessionId);
      return DONE;
    },
    "GET /api/subsession/parent/:parentSessionId": async ({ params, query }) => {
      const { parentSessionId } = params;
      const children = subSessionLog.children(parentSessionId);
      if (children.length === 0 && !(await subSessions.isThere(parentSessionId)))
        throw new TuttiError(
          "session_not_found",
          `Session "${parentSessionId}" does not exist. Check the id of the parent session.`,
        );
      return pageOf(children, query(), ({ childSessionId }) => childSessionId).map(encodeSubSession);
    },
    "GET /api/subsession/stats": () => subSessions.stats(),
    "POST /api/subsession/:childSessionId/force-return": async ({ params }) => {
      const { childSessionId } = params;
      if (subSessionLog.get(childSessionId)?.status === "orphaned")
        throw new TuttiError(
          "wrong_state",
          `Sub-session "${childSessionId}" is orphaned: its parent session is gone. Delete it instead.`,
        );
      const { success, alreadyReturned = false, ...result } = await subSessions.extract(childSessionId);
      return { success: success ?? alreadyReturned, ...(alreadyReturned && { alreadyReturned }), ...result };
    },
    "DELETE /api/subsession/:childSessionId": async ({ params, query, body }) => {
      const { archiveSession = false } = { ...definedMembers(query()), ...definedMembers(await body()) };
      await subSessions.unregister(params.childSessionId, { archiveSession });
      return DONE;
    },
  };
}

type Relation = ReturnType<SubSessionLog["children"]>[number];

function encodeSubSession({ since: _since, reported: _reported, ...relation }: Relation) {
  const { createdAt, lastActivityAt, returnedAt, archivedAt, ...rest } = relation;
  return {
    ...rest,
    createdAt: iso(createdAt),
    lastActivityAt: iso(lastActivityAt),
    ...(returnedAt === undefined ? {} : { returnedAt: iso(returnedAt) }),
    ...(archivedAt === undefined ? {} : { archivedAt: iso(archivedAt) }),
  };
}
