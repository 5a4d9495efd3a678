// Files and the exit codes of real commands (`CheckedCommand`) are evidence, the answer of the main session is a claim.
import { listSome } from "../outcome/work-warnings.ts";
import type { VerificationAnswer } from "../../schema/answer.ts";
import type { CheckedCommand, Outcome } from "../../schema/outcome.ts";
import type { Run } from "../../schema/run.ts";
import { sentence, type Say } from "../../sentence.ts";

const failedCommands = ({ checks }: Run): CheckedCommand[] =>
  (checks?.commands ?? []).filter(({ exitCode }) => exitCode !== 0);

/** Returns a clause without a period. */
export const describeFailed = ({ name, exitCode }: CheckedCommand, say: Say = sentence): string =>
  say('the command "{name}" failed with exit code {code}', { name, code: exitCode });

/** `MAX_NAMED` faults of a result are named in a cause; the answer has all of them. */
const MAX_NAMED = 5;

/**
 * Claims of the aggregation that the files contradict, claims of a passed `verification` that failed commands contradict,
 * and faults that it found and could not mend.
 */
export function contradictions(run: Run): Outcome["causes"] {
  const { verification, unproven = [] } = run;
  const causes: Outcome["causes"] = [];
  if (unproven.length > 0) causes.push({ taskId: "main", status: "contradicted", reason: unproven.join("; ") });
  if (verification === null || verification.status === "failed") return causes;
  const failed = failedCommands(run);
  if (failed.length > 0) {
    const reason = sentence('the verification reported "{status}", but {detail}', {
      status: verification.status,
      detail: failed.map((each) => describeFailed(each)).join(" and "),
    });
    causes.push({ taskId: "main", status: "contradicted", reason });
  }
  const faults = verification.remaining_faults ?? [];
  if (faults.length > 0) {
    const named = faults.slice(0, MAX_NAMED);
    const reason = listSome(named.join("; "), faults.length - named.length);
    causes.push({ taskId: "main", status: "partial", reason });
  }
  return causes;
}

/** Empty if the result is good enough, without `autoFix`, or after the turn for the fix (`isFixing`). */
export function reasonsToFix(run: Run, answer: VerificationAnswer): string[] {
  if (!run.template.phases.verification.autoFix || run.isFixing || run.main === null) return [];
  const issues = (answer.issues ?? []).filter(({ severity }) => severity === "error");
  const own =
    answer.status !== "failed"
      ? []
      : issues.length > 0
        ? issues.map(({ description }) => description)
        : [answer.summary ?? sentence("the verification failed")];
  return [...failedCommands(run).map((each) => describeFailed(each)), ...own];
}

export const mergeWarnings = ({ redBase }: Run, say: Say): string[] =>
  redBase === undefined
    ? []
    : [
        say("Merges were not checked, because without the work of the next task {detail} already.", {
          detail: redBase.map((each) => describeFailed(each, say)).join(say(" and ")),
        }),
      ];
