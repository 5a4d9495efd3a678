import type { CliCommand, CommandAction } from "../command-parts.ts";

export function addKeptCommands(program: CliCommand, action: CommandAction): void {
  program
    .command("restore")
    .argument("<id>", "Run id or a unique prefix of it")
    .argument("<task>", "Task id, or main for the main session")
    .argument("[attempt]", 'Attempt as "tutti find" prints it (default: the newest)')
    .option("--into <dir>", "New or empty folder to write to (default: ID-TASK-ATTEMPT in the current folder)")
    .description("Write the files of an attempt to a folder; never overwrites")
    .action(action(() => import("./restore.ts"), "restore"))
    .withExamples("tutti restore 4k2m task_002", "tutti restore 4k2m task_002 1 --into ../old-work");
  program
    .command("find")
    .argument("<text>", "Text in a title, a file name or a line; upper and lower case are the same")
    .description("Find the kept work of all attempts that contains a text")
    .action(action(() => import("./find.ts"), "find"))
    .withExamples('tutti find "parseConfig"', 'tutti find "TODO" --json | jq -r ".[].ref"');
  program
    .command("gc")
    .option("--dry-run", "List the refs without freeing them")
    .option("--all", "Also list the kept work that stays, with its size")
    .description("Free kept work that is merged, dropped, removed or outdated")
    .action(action(() => import("./gc.ts"), "gc"))
    .withExamples("tutti gc --dry-run", 'tutti gc --json | jq "map(.bytes) | add"');
}
