// `tutti status`: how one run stands, from its log.
import type { Output } from "./output.ts";
import { describeItem, describePlan } from "./describe.ts";
import { readRuns } from "./local-engine.ts";
import { TuttiError } from "../schema/error.ts";

export async function status(output: Output, id: string): Promise<number> {
  const run = readRuns(output.dataDir).find((each) => each.id === id);
  if (!run) throw new TuttiError("run_not_found", `there is no run ${id}`);
  output.value(run);
  output.result(`${run.id}  ${run.status}  ${run.userRequest}`);
  for (const line of describePlan(run)) output.result(line);
  for (const item of Object.values(run.inbox)) output.result(describeItem(item));
  if (run.status === "confirming") output.result(`the plan waits: tutti confirm ${run.id}, or tutti cancel ${run.id}`);
  if (run.outcome !== null)
    output.result(`outcome: ${run.outcome}${run.head === null ? "" : `, branch tutti/${run.id}`}`);
  for (const error of run.errors) output.result(`error in ${error.phase ?? "the run"}: ${error.error}`);
  return 0;
}
