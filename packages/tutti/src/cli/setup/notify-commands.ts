import type { CliCommand, CommandAction } from "../command-parts.ts";

export function addNotifyCommands(program: CliCommand, action: CommandAction): void {
  const notify = program.command("notify").description("Check the notification targets of your configuration");
  notify
    .command("test")
    .description("Send a test notification to every target")
    .action(action(() => import("./notify.ts"), "testNotify"))
    .withExamples("tutti notify test", "tutti notify test --json | jq '.targets[] | select(.ok | not)'");
}
