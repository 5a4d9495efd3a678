import type { AllowedFolders } from "../access/allowed-folders.ts";
import { restrictionOf } from "../access/restriction.ts";
import { itemsAfter } from "../decode.ts";
import { encodeState, encodeSummary } from "./encode-run.ts";
import { encodeTimeline } from "./encode-timeline.ts";
import { encodeUsage } from "./encode-usage.ts";
import { encodeRaw } from "../live/frame.ts";
import type { Handlers } from "../handler.ts";
import { streamArray } from "../stream-array.ts";
import { RepeatableRequests } from "./repeatable-requests.ts";
import type { Engine } from "../../engine/engine.ts";
import type { NewRun } from "../../engine/new-run.ts";
import { runGraph } from "../../engine/runs/run-graph.ts";
import type { RUN_ROUTES } from "../../schema/api/run-routes.ts";
import { noSuchRun, TuttiError } from "../../schema/error.ts";
import type { Run } from "../../schema/run.ts";

/** A page of larger events ends early, at `EVENTS_PAGE_BYTES`. Clients read on with `after` until a page is empty. */
const EVENTS_PAGE_BYTES = 8 * 1024 * 1024;

export function findRun(engine: Engine, id: string): Run {
  const run = engine.get(id);
  if (run === null) throw noSuchRun(id);
  return run;
}

export interface RunRouteOptions {
  engine: Engine;
  folders: AllowedFolders;
  /** `onlyNamedAgents` is set on servers beyond loopback, where a request may not name a program to run. */
  onlyNamedAgents: boolean;
}

export function runHandlers({ engine, folders, onlyNamedAgents }: RunRouteOptions): Handlers<keyof typeof RUN_ROUTES> {
  const repeatable = new RepeatableRequests(engine);
  return {
    "POST /api/orchestrator": async ({ body, context }) => {
      const request = await body();
      const restricted = restrictionOf(onlyNamedAgents, context);
      if (restricted !== null) mustNameNoPrograms(request, restricted);
      folders.check(request.cwd);
      const key = context.req.header("idempotency-key");
      const { isNew, answer } = await repeatable.create(request, key, {
        mayUse: (root) => folders.check(root),
        ...(restricted !== null && { mayWiden: (settings) => refuseWider(settings, restricted) }),
      });
      return isNew ? answer : context.json(answer, 200);
    },
    "GET /api/orchestrator": ({ query }) => {
      const { status, full, ids, after, limit } = query();
      const later = itemsAfter(engine.summaries(), after, ({ id }) => id);
      const wanted = ids === undefined ? null : new Set(ids.split(","));
      const runs = later.filter(
        (run) => (status === undefined || run.status === status) && (wanted === null || wanted.has(run.id)),
      );
      return full === "1" ? wholeStates(engine, runs.slice(0, limit)) : encodeAll(runs.slice(0, limit), encodeSummary);
    },
    "GET /api/orchestrator/:id": ({ params }) => encodeState(findRun(engine, params.id)),
    "GET /api/orchestrator/:id/snapshot": ({ params }) => engine.snapshot(findRun(engine, params.id).id),
    "GET /api/orchestrator/:id/events": ({ params, query, hide }) => {
      const { id } = findRun(engine, params.id);
      const { tail, ...page } = query();
      const events =
        tail === undefined
          ? engine.readRawEvents({ run: id, ...page, maxBytes: EVENTS_PAGE_BYTES })
          : tail === 0
            ? []
            : engine.rawEvents({ run: id, before: engine.lastSeq() + 1, limit: tail, maxBytes: EVENTS_PAGE_BYTES });
      return streamArray(encodeAll(events, (event) => encodeRaw(event, hide).text));
    },
    "GET /api/orchestrator/:id/result": async ({ params }) => engine.result(findRun(engine, params.id).id),
    "GET /api/orchestrator/:id/graph": ({ params }) => runGraph(findRun(engine, params.id)),
    "GET /api/orchestrator/:id/timeline": ({ params }) => {
      const { id } = findRun(engine, params.id);
      return encodeTimeline(() => engine.readEvents({ run: id }));
    },
    "GET /api/orchestrator/:id/usage": ({ params }) => {
      const run = findRun(engine, params.id);
      return encodeUsage(run, engine.readEvents({ run: run.id }));
    },
  };
}

/** `wholeStates` skips a run that was removed while the client was reading. */
function* wholeStates(engine: Engine, runs: readonly { id: string }[]): Generator<ReturnType<typeof encodeState>> {
  for (const { id } of runs) {
    const run = engine.get(id);
    if (run) yield encodeState(run);
  }
}

export function* encodeAll<T, R>(items: Iterable<T>, encode: (item: T) => R): Generator<R> {
  for (const item of items) yield encode(item);
}

export function mustBeNamedAgents(agents: readonly (string | null | undefined)[], when: string): void {
  if (agents.some((name) => name?.includes(":")))
    throw new TuttiError("forbidden", `An agent with a program is rejected ${when}. Name a configured agent.`);
}

function refuseWider(settings: readonly string[], when: string): never {
  throw new TuttiError(
    "forbidden",
    `Wider permissions of agents than those of the template are rejected ${when}. Leave out ${settings.join(", ")}.`,
  );
}

/** `mustNameNoPrograms` leaves clients that are not an admin on loopback the agents configured on this machine. */
function mustNameNoPrograms(
  request: Pick<NewRun, "agent" | "roles" | "config" | "trust" | "sandbox">,
  when: string,
): void {
  const { agent, roles = {}, config, trust, sandbox } = request;
  mustBeNamedAgents([agent, config?.agent, ...Object.values(roles)], when);
  if (sandbox !== undefined && sandbox !== "required") {
    throw new TuttiError("forbidden", `A weaker sandbox is rejected ${when}. Leave out the member sandbox.`);
  }
  if (trust !== undefined) {
    throw new TuttiError("forbidden", `The member trust is rejected ${when}. Leave it out.`);
  }
}
