// Planted bugs in the rules. `planted-loader.ts` substitutes these functions for the real ones in the engine only; the
// simulation's checks always use the real rules.
import { withConfig, type Patches } from "./planted-patches.ts";
import { PROVIDER_PATCHES } from "./planted-provider-rules.ts";
import { TEAM_PATCHES } from "./planted-team-rules.ts";
import type { RuleBug } from "./planted.ts";
import type { Asker } from "../../src/engine/slots.ts";
import type { decideStep } from "../../src/run/decide.ts";
import { workerOf, workerOfSession } from "../../src/run/lookup.ts";
import type { RunEvent } from "../../src/schema/event.ts";
import type { Run } from "../../src/schema/run.ts";

const mayStart = ({ status }: Run): boolean => status === "spawning" || status === "running";

const untouched = (run: Run, taskId: string): boolean =>
  mayStart(run) && !workerOf(run, taskId) && !run.skipped[taskId] && !run.blocked[taskId];

const goingOn = (run: Run): Run =>
  run.status === "paused" && run.pausedFrom?.status === "running" ? { ...run, status: "running" } : run;

const earlier = (byMs: (run: Run, sessionId: string) => number): Patches => ({
  deadlines: (real, run) => real(run).map(({ sessionId, at }) => ({ sessionId, at: at - byMs(run, sessionId) })),
  schedule: (real, run, limits, now) => {
    const wanted = real(run, limits, now);
    const shifted = wanted.deadlines.map(({ sessionId, at }) => ({ sessionId, at: at - byMs(run, sessionId) }));
    return { ...wanted, deadlines: shifted };
  },
});

export const RULE_PATCHES: Record<RuleBug, Patches> = {
  "dependencies-ignored": {
    isReady: (real, run, taskId, now) => real(run, taskId, now) || untouched(run, taskId),
    schedule: (real, run, limits, now) => {
      const wanted = real(run, limits, now);
      const [next] = run.tasks.filter(({ id }) => untouched(run, id) && !wanted.spawn.includes(id));
      const more = next && wanted.spawn.length === 0 && wanted.sessions.length === 0 && limits.freeSlots > 0;
      return more ? { ...wanted, spawn: [next.id] } : wanted;
    },
  },
  "worker-cap-ignored": {
    schedule: (real, run, limits, now) =>
      real(withConfig(run, { maxWorkers: 20, parallelExecution: true }), limits, now),
  },
  "slots-not-reserved": {
    Slots: (real) =>
      class extends real {
        override reserve(): () => void {
          return () => {};
        }
      },
  },
  "slot-not-released": {
    Slots: (real) =>
      class extends real {
        override reserve(asker: Asker): () => void {
          super.reserve(asker);
          return () => {};
        }
      },
  },
  "scopes-ignored": {
    schedule: (real, run, limits, now) => real(withConfig(run, { overlappingScopes: "allow" }), limits, now),
  },
  "spawn-delay-ignored": {
    schedule: (real, run, limits, now) => real(withConfig(run, { spawnDelay: 0 }), limits, now),
  },
  "pause-ignored": {
    schedule: (real, run, limits, now) => real(goingOn(run), limits, now),
    isReady: (real, run, taskId, now) => real(goingOn(run), taskId, now),
  },
  "confirmed-without-person": { consequences: (real, run, at) => real(withConfig(run, { autoSpawn: true }), at) },
  "retry-beyond-limit": {
    automaticRetry: (real, run, worker, code, at) =>
      real(withConfig(run, { maxRetries: run.template.config.maxRetries + 1 }), worker, code, at),
  },
  "back-off-too-short": {
    automaticRetry: (real, run, worker, code, at) => real(withConfig(run, { retryDelay: 0 }), worker, code, at),
  },
  "retries-what-cannot-help": {
    automaticRetry: (real, run, worker, _, at) => real(run, worker, "something else", at),
  },
  "budget-ignored": { exhaustedBudget: () => null },
  "pause-time-counted": earlier((run, sessionId) => workerOfSession(run, sessionId)?.session.waitedMs ?? 0),
  "timeout-too-early": earlier(() => 3000),
  "timeout-never": earlier(() => -100_000_000),
  "default-answer-too-early": { answerByDefault: (real, run, at) => real(run, at + 10_000) },
  "blocked-not-told": {
    consequences: (real, run, at) => real(run, at).filter(({ type }) => type !== "task:blocked"),
  },
  "retried-not-unblocked": {
    apply: (real, run, event) => {
      const next = real(run, event);
      return run && event.type === "worker:retrying" ? { ...next, blocked: run.blocked } : next;
    },
  },
  "open-sub-sessions-ignored": { awaitsSubSessions: () => false },
  "census-off": {
    outcome: (real, run, files, now) => {
      const found = real(run, files, now);
      return { ...found, census: { ...found.census, completed: found.census.completed + 1 } };
    },
  },
  "merge-never-wanted": {
    schedule: (real, run, limits, now) => ({ ...real(run, limits, now), merges: [] }),
  },
  "echo-counts": { judgeAnswer: (real, input) => real({ ...input, prompt: "" }) },
  "other-task-counts": {
    judgeAnswer: (real, { blocks, prompt, delimiters, phase }) => real({ blocks, prompt, delimiters, phase }),
  },
  "no-work-counts": {
    decideWorkerAnswer: (real, run, worker, over, at) =>
      real(withConfig(run, { acceptWithoutWork: true }), worker, over, at),
  },
  "main-loss-ends-the-run": {
    loseMain: (real, run, main, loss, at) =>
      real(run, main, loss, at).flatMap((event): RunEvent[] => {
        if (event.type === "orchestrator:error") return [{ ...event, data: { ...event.data, fatal: true } }];
        return event.type === "orchestrator:paused" ? [] : [event];
      }),
  },
  "workers-open-after-the-end": { stopWorkers: () => [] },
  "completed-twice": {
    decideStep: (real, run, command, at) => twice("worker:completed", real(run, command, at)),
  },
  "attempt-begun-twice": {
    decideStep: (real, run, command, at) => twice("worker:spawning", real(run, command, at)),
  },
  "usage-forgotten-in-memory": {
    apply: (real, run, event) => {
      const next = real(run, event);
      return run && event.type === "turn:ended" ? { ...next, usage: run.usage } : next;
    },
  },
  "reuse-ignores-files": { keyOfAttempt: (real, run, worker) => real(run, worker, "") },
  "reuse-of-part": { isWhole: () => true },
  "reuse-against-a-retry": {
    mayStandFor: (real, run, worker, result) => real(run, { ...worker, anew: false }, result),
    takeOver: (real, run, worker, known) => real(run, { ...worker, anew: false }, known),
  },
  "nothing-reused": { mayStandFor: () => false },
  "conflict-built-on": { waitsForBranch: () => false },
  "branch-moves-in-repair": { isBranchHeld: () => false },
  "fold-forgets-merges": {
    fold: (real, run, events) =>
      real(
        run,
        [...events].filter(({ type }) => type !== "workspace:merged"),
      ),
  },
  ...PROVIDER_PATCHES,
  ...TEAM_PATCHES,
};

let planted: Patches = {};

/** Has no effect unless `planted-loader.ts` ran before the engine was loaded. */
export function plant(bug: RuleBug | null): void {
  planted = bug === null ? {} : RULE_PATCHES[bug];
}

/** Returns a proxy that calls `real` unless the planted bug replaces it. */
export function patched(name: keyof Patches, real: (...given: unknown[]) => unknown): unknown {
  const patchOf = () => planted[name] as ((...given: unknown[]) => unknown) | undefined;
  return new Proxy(real, {
    apply(target, self, given: unknown[]) {
      const patch = patchOf();
      return patch ? patch(target, ...given) : Reflect.apply(target, self, given);
    },
    construct(target, given: unknown[]) {
      const made = (patchOf()?.(target) ?? target) as new (...given: unknown[]) => object;
      return Reflect.construct(made, given);
    },
  });
}

/** Stores every event of this type twice. The second has the same effect and the next `runSeq`. */
function twice(type: RunEvent["type"], step: ReturnType<typeof decideStep>): ReturnType<typeof decideStep> {
  const events = step.events.flatMap((event) => (event.type === type ? [event, event] : [event]));
  const more = events.length - step.events.length;
  return { events, run: step.run && { ...step.run, runSeq: step.run.runSeq + more } };
}
