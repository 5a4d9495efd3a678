// Planted bugs in the rules for refusing providers, limits, permissions and questions.
import { withConfig, type Patches } from "./planted-patches.ts";
import type { ProviderBug } from "./planted.ts";
import type { Slots } from "../../src/engine/slots.ts";
import type { EventData } from "../../src/schema/event.ts";
import type { Run } from "../../src/schema/run.ts";

/** Returns the run without the refusals that `which` selects by their `until`. */
const forgetting = (run: Run, which: (until: number) => boolean): Run => ({
  ...run,
  refusals: Object.fromEntries(Object.entries(run.refusals).filter(([, { until }]) => !which(until))),
});

/** Changes the `turn:ended` events that result from a worker's answer. */
const endedOtherwise = (
  change: (data: EventData<"turn:ended">) => Partial<EventData<"turn:ended">>,
): Pick<Patches, "decideWorkerAnswer"> => ({
  decideWorkerAnswer: (real, run, worker, over, at) =>
    real(run, worker, over, at).map((event) =>
      event.type === "turn:ended" && event.data.again
        ? { ...event, data: { ...event.data, again: undefined, ...change(event.data) } }
        : event,
    ),
});

export const PROVIDER_PATCHES: Record<ProviderBug, Patches> = {
  "refusal-ignored-by-starts": {
    schedule: (real, run, limits, now) => {
      const { lookAt } = real(run, limits, now);
      const ignorant = forgetting(run, () => true);
      return { ...real(ignorant, limits, now), lookAt };
    },
    decideReport: (real, run, report, at) =>
      real(report.type === "spawn" || report.type === "spawnMain" ? forgetting(run, () => true) : run, report, at),
    Slots: (real) =>
      class extends real {
        constructor(...[limits, active, now]: ConstructorParameters<typeof Slots>) {
          super(limits, active, now);
        }
      },
  },
  "refusal-ignored-by-turns": {
    consequences: (real, run, at) =>
      real(
        forgetting(run, () => true),
        at,
      ),
  },
  "all-ask-at-once": {
    consequences: (real, run, at) =>
      real(
        forgetting(run, (until) => until <= at),
        at,
      ),
  },
  "open-turn-holds-all": {
    mayAsk: (real, run, agent, at) => {
      const open = Object.values(run.workers).some(({ session }) => session.turn !== null);
      return real(run, agent, at) && !(open && Object.keys(run.refusals).length > 0);
    },
  },
  "refused-together-counts": {
    backOffAfter: (real, run, session, ending, at) =>
      real(run, { ...session, turn: session.turn && { ...session.turn, startedAt: at + 864_000_000 } }, ending, at),
  },
  "refusal-counts-as-a-try": endedOtherwise(() => ({ problems: ["the provider refused"] })),
  "refusal-fails-the-task": { backOffAfter: () => null },
  "wait-for-provider-counted": endedOtherwise(() => ({})),
  "resumes-unasked": {
    park: (real, run, agent, ending, itemId, at) =>
      real(withConfig(run, { autoResume: true }), agent, ending, itemId, at),
  },
  "resumes-too-early": {
    park: (real, run, agent, ending, itemId, at) => real(run, agent, { ...ending, resetAt: at + 1 }, itemId, at),
  },
  "resumes-for-ever": {
    park: (real, run, agent, ending, itemId, at) => real({ ...run, autoResumes: 0 }, agent, ending, itemId, at),
  },
  "permission-by-default": { noAmong: (_, options = []) => options[0] ?? "allow" },
  "question-is-no-answer": {
    decideWorkerAnswer: (real, run, worker, over, at) => real(run, worker, { ...over, question: null }, at),
  },
};
