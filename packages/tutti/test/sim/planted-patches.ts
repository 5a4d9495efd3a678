// The rules that planted bugs can replace, and the type of a bug.
import type { OutsideSession } from "../../src/engine/mailboxes/outside-session.ts";
import type { Slots } from "../../src/engine/slots.ts";
import type { judgeAnswer } from "../../src/protocol/response/judge-answer.ts";
import type { apply, fold } from "../../src/run/apply.ts";
import type { exhaustedBudget } from "../../src/run/rules/budget.ts";
import type { isBranchHeld, waitsForBranch } from "../../src/run/rules/collisions.ts";
import type { outcome } from "../../src/run/outcome/outcome.ts";
import type { decideWorkerAnswer } from "../../src/run/answers/decide-worker-answer.ts";
import type { decideStep } from "../../src/run/decide.ts";
import type { answerByDefault } from "../../src/run/inbox/default-answer.ts";
import type { decideReport } from "../../src/run/rules/decide-report.ts";
import type { consequences } from "../../src/run/consequences.ts";
import type { stopWorkers } from "../../src/run/lifecycle.ts";
import type { loseMain } from "../../src/run/rules/main-failure.ts";
import type { awaitsSubSessions } from "../../src/run/rules/natural.ts";
import type { noAmong } from "../../src/run/rules/permission.ts";
import type { backOffAfter, mayAsk, park } from "../../src/run/provider/provider.ts";
import type { keyOfAttempt } from "../../src/engine/sessions/attempt-key.ts";
import type { renderTeamPrompt } from "../../src/engine/sessions/team-prompt.ts";
import type { deliverReturned, returnEndings } from "../../src/run/team/delegation.ts";
import type { isHeldBack, judgeReview } from "../../src/run/team/gate.ts";
import type { breakCircuit, isContinuous } from "../../src/run/team/cycle.ts";
import type { rejectionLimit } from "../../src/run/team/rework.ts";
import type { deliverMessage } from "../../src/run/team/team.ts";
import type { isWhole, mayStandFor, takeOver } from "../../src/run/rules/reuse.ts";
import type { automaticRetry } from "../../src/run/rules/retry.ts";
import type { deadlines, isReady, schedule } from "../../src/run/schedule.ts";
import type { Run } from "../../src/schema/run.ts";
import type { TemplateConfig } from "../../src/schema/template.ts";

/** The functions that can be replaced, by file below src. */
export const PATCHED = {
  "run/schedule.ts": ["schedule", "deadlines", "isReady"],
  "run/decide.ts": ["decideStep"],
  "run/apply.ts": ["apply", "fold"],
  "run/consequences.ts": ["consequences"],
  "run/rules/budget.ts": ["exhaustedBudget"],
  "run/rules/collisions.ts": ["isBranchHeld", "waitsForBranch"],
  "run/rules/retry.ts": ["automaticRetry"],
  "run/rules/reuse.ts": ["isWhole", "mayStandFor", "takeOver"],
  "run/outcome/outcome.ts": ["outcome"],
  "run/lifecycle.ts": ["stopWorkers"],
  "run/inbox/default-answer.ts": ["answerByDefault"],
  "run/answers/decide-worker-answer.ts": ["decideWorkerAnswer"],
  "run/rules/decide-report.ts": ["decideReport"],
  "run/rules/main-failure.ts": ["loseMain"],
  "run/rules/natural.ts": ["awaitsSubSessions"],
  "run/rules/permission.ts": ["noAmong"],
  "run/provider/provider.ts": ["mayAsk", "park", "backOffAfter"],
  "run/team/team.ts": ["deliverMessage"],
  "run/team/delegation.ts": ["deliverReturned", "returnEndings"],
  "run/team/gate.ts": ["isHeldBack", "judgeReview"],
  "run/team/rework.ts": ["rejectionLimit"],
  "run/team/cycle.ts": ["isContinuous", "breakCircuit"],
  "engine/sessions/attempt-key.ts": ["keyOfAttempt"],
  "engine/sessions/team-prompt.ts": ["renderTeamPrompt"],
  "protocol/response/judge-answer.ts": ["judgeAnswer"],
  "engine/slots.ts": ["Slots"],
  "engine/mailboxes/outside-session.ts": ["OutsideSession"],
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
  isBranchHeld: typeof isBranchHeld;
  waitsForBranch: typeof waitsForBranch;
  automaticRetry: typeof automaticRetry;
  keyOfAttempt: typeof keyOfAttempt;
  isWhole: typeof isWhole;
  mayStandFor: typeof mayStandFor;
  takeOver: typeof takeOver;
  outcome: typeof outcome;
  stopWorkers: typeof stopWorkers;
  answerByDefault: typeof answerByDefault;
  decideWorkerAnswer: typeof decideWorkerAnswer;
  decideReport: typeof decideReport;
  loseMain: typeof loseMain;
  awaitsSubSessions: typeof awaitsSubSessions;
  noAmong: typeof noAmong;
  mayAsk: typeof mayAsk;
  park: typeof park;
  backOffAfter: typeof backOffAfter;
  judgeAnswer: typeof judgeAnswer;
  deliverMessage: typeof deliverMessage;
  deliverReturned: typeof deliverReturned;
  returnEndings: typeof returnEndings;
  isHeldBack: typeof isHeldBack;
  judgeReview: typeof judgeReview;
  rejectionLimit: typeof rejectionLimit;
  isContinuous: typeof isContinuous;
  breakCircuit: typeof breakCircuit;
  renderTeamPrompt: typeof renderTeamPrompt;
}

export type Patches = {
  [Name in keyof Rules]?: (real: Rules[Name], ...given: Parameters<Rules[Name]>) => ReturnType<Rules[Name]>;
} & {
  Slots?: (real: typeof Slots) => typeof Slots;
  OutsideSession?: (real: typeof OutsideSession) => typeof OutsideSession;
};

export const withConfig = (run: Run, config: Partial<TemplateConfig>): Run => ({
  ...run,
  template: { ...run.template, config: { ...run.template.config, ...config } },
});
