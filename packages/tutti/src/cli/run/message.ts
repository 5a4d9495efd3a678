import { findRunId } from "../access/find-run.ts";
import type { Output } from "../terminal/output.ts";
import { withRuns } from "../access/open-runs.ts";
import { TuttiError } from "../../schema/error.ts";

export async function message(
  output: Output,
  idPrefix: string,
  text: string,
  flags: { task?: string },
): Promise<number> {
  if (text.trim() === "") throw new TuttiError("usage", "The message is empty. Give a text.");
  return withRuns(output, async (runs) => {
    const id = await findRunId(runs, idPrefix);
    await runs.orders.message(id, text, flags.task);
    output.value({ id, taskId: flags.task ?? null, text });
    output.result(`${flags.task ?? "the main session"} of ${id} receives the message with its next turn`);
    return 0;
  });
}
