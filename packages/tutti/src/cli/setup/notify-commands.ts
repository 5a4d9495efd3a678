import type { Command } from "commander";
import { examples, type CommandAction } from "../command-parts.ts";

export function addNotifyCommands(program: Command, action: CommandAction): void {
  const notify = program.command("notify").description("Check the notification targets of your configuration");
  const test = notify
    .command("test")
    .description("Send a test notification to every target")
    .action(action(() => import("./notify.ts"), "testNotify"));
  examples(test, "tutti notify test", "tutti notify test --json | jq '.targets[] | select(.ok | not)'");
}
