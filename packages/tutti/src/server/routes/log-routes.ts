import { encodeState } from "./encode-run.ts";
import type { Handlers } from "../handler.ts";
import { encodeAll, findRun, type RunRouteOptions } from "./run-routes.ts";
import { streamText } from "../stream-array.ts";
import { copyLines } from "../../engine/copies/run-copy.ts";
import type { LOG_ROUTES } from "../../schema/api/log-routes.ts";
import { TuttiError } from "../../schema/error.ts";
import type { Run } from "../../schema/run.ts";

export function logHandlers({ engine, folders, onlyNamedAgents }: RunRouteOptions): Handlers<keyof typeof LOG_ROUTES> {
  /** A server executes every run in its log, so it resumes the new run at once. */
  const activate = async ({ id }: Run) => encodeState(await engine.activate(id));
  return {
    "POST /api/orchestrator/import": async ({ query, body }) => {
      const { trust } = query();
      if (trust !== undefined && onlyNamedAgents) {
        throw new TuttiError(
          "forbidden",
          "The query parameter trust is rejected on a server that listens beyond loopback. Leave it out.",
        );
      }
      const runs = await engine.import(await body(), { trust, mayUse: (folder) => folders.check(folder) });
      return Promise.all(runs.map(activate));
    },
    "GET /api/orchestrator/:id/export": ({ params, hide }) => {
      const { id } = findRun(engine, params.id);
      const lines = copyLines(
        id,
        encodeAll(engine.readEvents({ run: id }), (event) => (hide ? hide(event) : event)),
      );
      return streamText(lines, 200, "application/x-ndjson; charset=UTF-8", {
        "Content-Disposition": `attachment; filename="${id}.jsonl"`,
      });
    },
    "GET /api/orchestrator/:id/replay": ({ params, query }) => {
      const { id } = findRun(engine, params.id);
      const { steps, problems } = engine.replay(id, query().until);
      return { id, events: steps.length, status: steps.at(-1)!.run.status, problems };
    },
    "POST /api/orchestrator/:id/fork": async ({ params, body }) => {
      const { id } = findRun(engine, params.id);
      const { at, fresh } = await body();
      return activate(await engine.fork(id, at, { fresh }));
    },
  };
}
