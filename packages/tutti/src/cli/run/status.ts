import type { Output } from "../terminal/output.ts";
import { itemLine, describePause, describePlan, describeTroubles, nextSteps } from "../terminal/describe.ts";
import { describeNext, nextOf, runLines } from "../terminal/run-lines.ts";
import { teamLines } from "../terminal/team-lines.ts";
import { cutAtWord, wrapText } from "../terminal/text-width.ts";
import { findRun } from "../access/find-run.ts";
import { readRuns } from "../access/open-runs.ts";
import { outcome } from "../../run/outcome/outcome.ts";
import { errorsOf } from "../../schema/run.ts";

export async function status(output: Output, idPrefix: string): Promise<number> {
  const runs = await readRuns(output);
  const row = findRun(await runs.rows(), idPrefix);
  const run = await runs.run(row.id);
  output.value({ ...run, errors: errorsOf(run), ...nextOf(row) });
  for (const line of runLines([row], Date.now(), output.columns)) output.result(line);
  for (const line of run.userRequest.split("\n").flatMap((each) => wrapText(each, output.columns - 2)))
    output.result(`  ${line}`);
  const next = describeNext(row);
  if (next !== null) output.result(next);
  for (const line of describePlan(run)) output.result(cutAtWord(line, output.columns));
  for (const line of teamLines(run, Date.now())) output.result(line);
  for (const item of Object.values(run.inbox)) output.result(itemLine(item));
  if (run.status === "paused") output.result(describePause(run));
  if (run.status === "confirming") {
    output.result(`The plan is not confirmed. Use "tutti confirm ${run.id}" or "tutti cancel ${run.id}".`);
  }
  if (run.outcome !== null)
    output.result(`outcome: ${run.outcome}${run.head === null ? "" : `, branch tutti/${run.id}`}`);
  for (const line of describeTroubles(outcome(run, [], Date.now()))) output.result(line);
  for (const error of run.errors) output.result(`error in ${error.phase ?? "the run"}: ${error.error}`);
  if (run.outcome !== null && run.head !== run.base) output.result(nextSteps(run.id));
  return 0;
}
