// `tutti message`: something to say to the main session, or to the worker of a task, while it works.
import { findRunId } from "./find-run.ts";
import type { Output } from "./output.ts";
import { steer } from "./steer.ts";
import { TuttiError } from "../schema/error.ts";

export async function message(output: Output, typed: string, text: string, flags: { task?: string }): Promise<number> {
  if (text.trim() === "") throw new TuttiError("usage", "say something");
  return steer(output, [], async (runs) => {
    const id = await findRunId(runs, typed);
    await runs.message(id, text, flags.task);
    output.value({ id, taskId: flags.task ?? null, text });
    output.result(`${flags.task ?? "the main session"} of ${id} hears it with its next turn`);
    return 0;
  });
}
