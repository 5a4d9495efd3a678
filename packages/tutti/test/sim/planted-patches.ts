// The rules that planted bugs can replace, and the type of a bug.
import type { Slots } from "../../src/engine/slots.ts";
import type { judgeAnswer } from "../../src/protocol/judge-answer.ts";
import type { apply, fold } from "../../src/run/apply.ts";
import type { exhaustedBudget } from "../../src/run/budget.ts";
import type { outcome } from "../../src/run/census.ts";
import type { decideWorkerAnswer } from "../../src/run/decide-worker-answer.ts";
import type { decideStep } from "../../src/run/decide.ts";
import type { answerByDefault } from "../../src/run/default-answer.ts";
import type { decideReport } from "../../src/run/decide-report.ts";
import type { consequences } from "../../src/run/follow.ts";
import type { stopWorkers } from "../../src/run/lifecycle.ts";
import type { noAmong } from "../../src/run/permission.ts";
import type { mayAsk, park, refused } from "../../src/run/provider.ts";
import type { isWhole, mayStandFor, takeOver } from "../../src/run/reuse.ts";
import type { automaticRetry } from "../../src/run/retry.ts";
import type { deadlines, isReady, schedule } from "../../src/run/schedule.ts";
import type { workKey } from "../../src/run/work-key.ts";
import type { Run } from "../../src/schema/run.ts";
import type { TemplateConfig } from "../../src/schema/template.ts";

/** The functions that can be replaced, by file below src. */
export const PATCHED = {
  "run/schedule.ts": ["schedule", "deadlines", "isReady"],
  "run/decide.ts": ["decideStep"],
  "run/apply.ts": ["apply", "fold"],
  "run/follow.ts": ["consequences"],
  "run/budget.ts": ["exhaustedBudget"],
  "run/retry.ts": ["automaticRetry"],
  "run/work-key.ts": ["workKey"],
  "run/reuse.ts": ["isWhole", "mayStandFor", "takeOver"],
  "run/census.ts": ["outcome"],
  "run/lifecycle.ts": ["stopWorkers"],
  "run/default-answer.ts": ["answerByDefault"],
  "run/decide-worker-answer.ts": ["decideWorkerAnswer"],
  "run/decide-report.ts": ["decideReport"],
  "run/permission.ts": ["noAmong"],
  "run/provider.ts": ["mayAsk", "park", "refused"],
  "protocol/judge-answer.ts": ["judgeAnswer"],
  "engine/slots.ts": ["Slots"],
} as const;

interface Rules {
  schedule: typeof schedule;
  deadlines: typeof deadlines;
  isReady: typeof isReady;
  decideStep: typeof decideStep;
  apply: typeof apply;
  fold: typeof fold;
  consequences: typeof consequences;
  exhaustedBudget: typeof exhaustedBudget;
  automaticRetry: typeof automaticRetry;
  workKey: typeof workKey;
  isWhole: typeof isWhole;
  mayStandFor: typeof mayStandFor;
  takeOver: typeof takeOver;
  outcome: typeof outcome;
  stopWorkers: typeof stopWorkers;
  answerByDefault: typeof answerByDefault;
  decideWorkerAnswer: typeof decideWorkerAnswer;
  decideReport: typeof decideReport;
  noAmong: typeof noAmong;
  mayAsk: typeof mayAsk;
  park: typeof park;
  refused: typeof refused;
  judgeAnswer: typeof judgeAnswer;
}

export type Patches = {
  [Name in keyof Rules]?: (real: Rules[Name], ...given: Parameters<Rules[Name]>) => ReturnType<Rules[Name]>;
} & { Slots?: (real: typeof Slots) => typeof Slots };

export const withConfig = (run: Run, config: Partial<TemplateConfig>): Run => ({
  ...run,
  template: { ...run.template, config: { ...run.template.config, ...config } },
});
