import { mustExist, openItems, type LiveRun, type RunAccess } from "./runs.ts";
import type { LocalEngine } from "../../main/local-engine.ts";
import type { Run } from "../../schema/run.ts";

const EVERYTHING = { limit: Number.POSITIVE_INFINITY };

type LocalAccess = Pick<LocalEngine, "engine" | "trusted" | "hasServer" | "isFollowed" | "openDashboard"> &
  Partial<Pick<LocalEngine, "sessions">>;

export function localRuns(local: LocalAccess): RunAccess {
  const { engine, sessions, trusted, hasServer, isFollowed, openDashboard } = local;
  const getRun = (id: string): Run => mustExist(engine.get(id), id);
  return {
    get home() {
      return hasServer() ? "server" : "here";
    },
    isFollowed,
    openDashboard: async () => (await openDashboard()).openUrl,
    rows: async () => engine.summaries(),
    inbox: async () => openItems(engine.summaries()),
    run: async (id) => getRun(id),
    events: async (id, after = 0) => engine.events({ run: id, after }),
    copy: async (id) => engine.export(id),
    problems: async (id) => engine.replay(id).problems,
    diff: (id, options) => engine.diff(id, options),
    transcript: async (id, sessionId, after = 0) => engine.transcript(id, sessionId, { after, ...EVERYTHING }),
    result: (id) => engine.result(id),
    watch: async (id): Promise<LiveRun> => ({
      get run() {
        return getRun(id);
      },
      past: engine.events({ run: id }),
      subscribe: (listener) => engine.subscribe((event, run) => run?.id === id && listener(event, run)),
      until: (reached) => engine.until(id, reached),
      settled: () => engine.settled(id),
      close: () => {},
    }),
    create: async (request) => (await engine.create(request)).id,
    ...(sessions?.expect && { expectSession: () => sessions.expect!() }),
    import: (text, trust) => engine.import(text, { trust }),
    fork: (id, { at, fresh }) => engine.fork(id, at, { fresh }),
    merge: (id, options) => engine.mergeResult(id, options),
    drop: (id) => engine.dropResult(id),
    agree: (hash) => trusted.add(hash),
    order: (id, name, ...input) => engine.order(id, name, ...input),
    orderWorker: (id, sessionId, name) => engine[`${name}Worker`](id, sessionId),
    overrideGate: (id, environment, reason) => engine.overrideGate(id, environment, "the user", reason),
    answer: (itemId, answer) => engine.answer(itemId, answer),
    activate: (id) => engine.activate(id),
    cleanup: (id, options) => engine.cleanup(id, options),
  };
}
