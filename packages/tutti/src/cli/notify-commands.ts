// The commands about notifications, as the command line offers them.
import type { Command } from "commander";
import { examples, type Action } from "./command-parts.ts";

export function addNotifyCommands(program: Command, action: Action): void {
  const notify = program.command("notify").description("who else is told when something needs you, fails or ends");
  const test = notify
    .command("test")
    .description("tell every webhook and command of yours that this is a test")
    .action(action(async (output) => (await import("./notify.ts")).testNotify(output)));
  examples(test, "tutti notify test", "tutti notify test --json | jq '.targets[] | select(.ok | not)'");
}
