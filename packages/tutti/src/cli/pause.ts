// `tutti pause`: nothing more is done for a run until it is resumed.
import { findRunId } from "./find-run.ts";
import type { Output } from "./output.ts";
import { steer } from "./steer.ts";

/**
 * Sessions that an earlier engine left at work are taken up and, with the run paused, ended in order when this command
 * ends. What they were doing is attempted anew after a resume.
 */
export async function pause(output: Output, typed: string): Promise<number> {
  return steer(output, [], async (runs) => {
    const id = await findRunId(runs, typed);
    await runs.pause(id);
    await runs.takeUp(id);
    const { status, pausedFrom } = await runs.run(id);
    output.value({ id, status, pausedFrom: pausedFrom?.status });
    output.result(`${id} is paused; go on with: tutti resume ${id}`);
    return 0;
  });
}
