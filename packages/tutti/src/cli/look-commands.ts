// The commands that only look at runs, as the command line offers them.
import type { Command } from "commander";
import { examples, type Action } from "./command-parts.ts";

export function addLookCommands(program: Command, action: Action): void {
  const list = program
    .command("list")
    .description("all runs")
    .action(action(async (output) => (await import("./list.ts")).list(output)));
  examples(list, "tutti list", "tutti list --json | jq -r '.[] | select(.status == \"running\").id'");

  const status = program
    .command("status")
    .argument("<id>", "the run, or the beginning of its id")
    .description("how a run stands")
    .action(action(async (output, id: string) => (await import("./status.ts")).status(output, id)));
  examples(status, "tutti status orch_4k2m", "tutti status 4k2m --json | jq .inbox");

  const logs = program
    .command("logs")
    .argument("<id>", "the run, or the beginning of its id")
    .description("what has happened in a run")
    .option("-f, --follow", "go on until the run is over")
    .option("--tail <n>", "only the last so many entries of what has happened so far")
    .option("--task <task>", "only what is about this task, with what was said in its sessions")
    .action(
      action(async (output, id: string, flags: import("./logs.ts").LogsFlags) =>
        (await import("./logs.ts")).logs(output, id, flags),
      ),
    );
  examples(logs, "tutti logs 4k2m", "tutti logs 4k2m -f --task task_002", "tutti logs 4k2m -f --tail 20");

  const inbox = program
    .command("inbox")
    .description("everything that waits for a person")
    .action(action(async (output) => (await import("./inbox.ts")).inbox(output)));
  examples(inbox, "tutti inbox", "tutti inbox --json | jq -r '.[].question'");
}
