import type { CliCommand, CommandAction } from "../command-parts.ts";

/** These commands print and open no engine. */
export const LOOK_NAMES = ["list", "status", "diff", "summary", "logs", "inbox"];

export function addLookCommands(program: CliCommand, action: CommandAction): void {
  program
    .command("list")
    .description("List all runs, the newest first")
    .action(action(() => import("./list.ts"), "list"))
    .withExamples("tutti list", "tutti list --json | jq -r '.[] | select(.status == \"running\").id'");

  program
    .command("status")
    .argument("<id>", "Run id or a unique prefix of it")
    .description("Show the state of a run")
    .action(action(() => import("./status.ts"), "status"))
    .withExamples("tutti status orch_4k2m", "tutti status 4k2m --json | jq .inbox");

  program
    .command("diff")
    .argument("<id>", "Run id or a unique prefix of it")
    .argument("[task]", "Show only the work of this task")
    .description("Show what a run changed, as git does")
    .option("--stat", "Show only the number of changed lines per file")
    .option("--patch <file>", "Write the patch to a new file instead")
    .action(action(() => import("./diff.ts"), "diff"))
    .withExamples("tutti diff 4k2m", "tutti diff 4k2m task_002 --stat", "tutti diff 4k2m --patch result.patch");

  program
    .command("summary")
    .argument("<id>", "Run id or a unique prefix of it")
    .description("Print the result of a run as the text of a pull request")
    .action(action(() => import("./summary.ts"), "summary"))
    .withExamples("tutti summary 4k2m", "tutti summary 4k2m --json | jq -r .title");

  program
    .command("logs")
    .argument("<id>", "Run id or a unique prefix of it")
    .description("Show the events of a run")
    .option("-f, --follow", "Continue until the run ends")
    .option("--tail <n>", "Show only the last N entries so far")
    .option("--task <task>", "Show only this task, with the transcripts of its sessions")
    .action(action(() => import("../log/logs.ts"), "logs"))
    .withExamples("tutti logs 4k2m", "tutti logs 4k2m -f --task task_002", "tutti logs 4k2m -f --tail 20");

  program
    .command("inbox")
    .description("List everything that waits for your answer, the newest first")
    .action(action(() => import("./inbox.ts"), "inbox"))
    .withExamples("tutti inbox", "tutti inbox --json | jq -r '.[].question'");
}
