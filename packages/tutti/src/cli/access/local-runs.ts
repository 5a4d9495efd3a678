import type { LocalEngine } from "./local-engine.ts";
import type { LiveRun, RunAccess } from "./runs.ts";
import { TuttiError } from "../../schema/error.ts";
import type { Run } from "../../schema/run.ts";

const EVERYTHING = { limit: Number.POSITIVE_INFINITY };

export function localRuns({ engine, trusted }: Pick<LocalEngine, "engine" | "trusted">): RunAccess {
  const getRun = (id: string): Run => {
    const run = engine.get(id);
    if (run === null) throw new TuttiError("run_not_found", `Run "${id}" does not exist. List runs with "tutti list".`);
    return run;
  };
  const then = async (order: Promise<unknown>): Promise<void> => void (await order);

  return {
    outlives: false,
    rows: async () => engine.summaries(),
    inbox: async () =>
      engine
        .summaries()
        .flatMap(({ inbox }) => inbox)
        .toSorted((a, b) => a.createdAt - b.createdAt),
    run: async (id) => getRun(id),
    events: async (id, after = 0) => engine.events({ run: id, after }),
    copy: async (id) => engine.export(id),
    problems: async (id) => engine.replay(id).problems,
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
    import: (text, trust) => engine.import(text, { trust }),
    fork: (id, { at, fresh }) => engine.fork(id, at, { fresh }),
    agree: (hash) => trusted.add(hash),
    start: (id) => then(engine.start(id)),
    takeUp: (id) => then(engine.takeUp(id)),
    pause: (id) => then(engine.pause(id)),
    resume: (id) => then(engine.resume(id)),
    cancel: (id) => then(engine.cancel(id)),
    confirm: (id, { modifications: tasks, hash, ...changes }) => then(engine.confirm(id, { tasks, ...changes }, hash)),
    retry: (id, taskId) => then(engine.retry(id, taskId)),
    message: (id, text, taskId) => then(engine.message(id, text, taskId)),
    answer: (itemId, answer) => then(engine.answer(itemId, answer)),
    cleanup: (id, options) => engine.cleanup(id, options),
  };
}
