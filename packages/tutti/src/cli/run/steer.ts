import type { SteerCommand, SteerFlags } from "./steer-commands.ts";
import { watch } from "./watch.ts";
import { findItem, findRunId } from "../access/find-run.ts";
import { withRuns } from "../access/open-runs.ts";
import type { Output } from "../terminal/output.ts";

/** Returns the function of a command. Its arguments come from Commander: the last two are the flags and the command. */
export const steering = (command: SteerCommand) => ({
  steer: (output: Output, ...given: unknown[]) =>
    steer(output, command, given.slice(0, -2) as string[], given.at(-2) as SteerFlags),
});

/** Gives the order of a command. The run acts on it with `activate`, and is followed if the command `follows` it. */
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
