import type { CliCommand, CommandAction } from "../command-parts.ts";

export function addLogCommands(program: CliCommand, action: CommandAction): void {
  program
    .command("export")
    .argument("<id>", "Run id or a unique prefix of it")
    .argument("[file]", "File to write; it must not exist (default: stdout)")
    .description("Export the log of a run")
    .action(action(() => import("./run-log.ts"), "exportRun"))
    .withExamples("tutti export 4k2m run.jsonl");
  program
    .command("import")
    .argument("<file>", "File of an exported run, or an old orchestrators.json")
    .option("--trust <hash>", "Agree to the programs that the run names; the refusal shows the hash")
    .description("Import the log of a run; an unfinished run can be resumed")
    .action(action(() => import("./run-log.ts"), "importFile"))
    .withExamples("tutti import run.jsonl");
  program
    .command("replay")
    .argument("<id>", "Run id or a unique prefix of it")
    .option("--until <n>", "Stop after event N of the run")
    .description("Fold the log of a run again, event by event, and check it")
    .action(action(() => import("./run-log.ts"), "replay"))
    .withExamples("tutti replay 4k2m --until 40");
  program
    .command("fork")
    .argument("<id>", "Run id or a unique prefix of it")
    .option("--at <n>", "Event to continue from, including events decided together with it (default: the last)")
    .option("--fresh", "Repeat all work after that event instead of reusing its results")
    .description("Create a run that continues from an event of another run")
    .action(action(() => import("./run-log.ts"), "fork"))
    .withExamples("tutti fork 4k2m --at 40");
  program
    .command("prune")
    .option("--days <n>", "Keep runs that changed within the last N days")
    .option("--keep <n>", "Keep the newest N ended runs")
    .option("--dry-run", "List the runs without removing them")
    .description("Remove ended runs; their branches stay")
    .action(action(() => import("./prune.ts"), "prune"))
    .withExamples("tutti prune --days 30 --dry-run", "tutti prune --days 30 --keep 100");
}
