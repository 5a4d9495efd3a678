import type { Output } from "../terminal/output.ts";
import { findRunId } from "../access/find-run.ts";
import { readRuns } from "../access/open-runs.ts";
import { describeResult } from "../../run/describe-result.ts";

/** Prints the text of a pull request. Publishing it is left to the user. */
export async function summary(output: Output, idPrefix: string): Promise<number> {
  const runs = await readRuns(output);
  const id = await findRunId(runs, idPrefix);
  const [run, { files }] = [await runs.run(id), await runs.diff(id, { stat: true })];
  const { title, body } = describeResult(run, files, Date.now());
  output.value({ id, title, body });
  output.document(`# ${title}\n\n${body}`);
  return 0;
}
