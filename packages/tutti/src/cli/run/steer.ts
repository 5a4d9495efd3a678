import type { SteerCommand, SteerFlags } from "./steer-commands.ts";
import { watch } from "./watch.ts";
import { findItem, findRunId } from "../access/find-run.ts";
import { withRuns } from "../access/open-runs.ts";
import type { Output } from "../terminal/output.ts";

/** Commander calls an action with the arguments, the flags and the command, hence the slices of `given`. */
export const steering = (command: SteerCommand) => ({
  steer: (output: Output, ...given: unknown[]) =>
    steer(output, command, given.slice(0, -2) as string[], given.at(-2) as SteerFlags),
});

/** `activate` makes the run act on the order, and `watch` follows it if the command `follows`. */
async function steer(
  output: Output,
  command: SteerCommand,
  [prefix = "", ...args]: readonly string[],
  flags: SteerFlags,
): Promise<number> {
  const send = await command.order(args, flags);
  return withRuns(
    output,
    async (runs, signal) => {
      const item = command.on === "item" ? findItem(await runs.inbox(), prefix) : null;
      const id = item?.run ?? (await findRunId(runs, prefix));
      const settings = await send({ runs, output, signal, id, item });
      if (!command.follows) return 0;
      await runs.activate(id);
      const { yes = false, allowDegraded = false } = flags;
      return watch({ runs, output, id, signal, yes, allowDegraded, start: false, ...settings });
    },
    flags,
  );
}
