// The commands on a run's log, as the command line offers them.
import type { Command } from "commander";
import { examples, type Action } from "./command-parts.ts";

export function addLogCommands(program: Command, action: Action): void {
  examples(
    program
      .command("export")
      .argument("<id>", "the run")
      .argument("[file]", "where to write it (default: standard output)")
      .description("take a run's log along")
      .action(
        action(async (output, id: string, file: string | undefined) =>
          (await import("./run-log.ts")).exportRun(output, id, file),
        ),
      ),
    "tutti export 4k2m run.jsonl",
  );
  examples(
    program
      .command("import")
      .argument("<file>", "a run that was exported, or an old orchestrators.json")
      .option("--trust <hash>", "you agree to the programs that the run names; the hash is shown when it is refused")
      .description("take in a run's log; one that was not over can be resumed")
      .action(
        action(async (output, file: string, flags: { trust?: string }) =>
          (await import("./run-log.ts")).importFile(output, file, flags),
        ),
      ),
    "tutti import run.jsonl",
  );
  examples(
    program
      .command("replay")
      .argument("<id>", "the run")
      .option("--until <n>", "only up to this event of the run")
      .description("fold a run's log again, event by event, and check it")
      .action(
        action(async (output, id: string, flags: { until?: string }) =>
          (await import("./run-log.ts")).replay(output, id, flags),
        ),
      ),
    "tutti replay 4k2m --until 40",
  );
  examples(
    program
      .command("fork")
      .argument("<id>", "the run")
      .option("--at <n>", "the event of the run to go on from, with what was decided with it (default: its last)")
      .option("--fresh", "do everything again that comes after that event, also what was done since")
      .description("make a new run with the past of another")
      .action(
        action(async (output, id: string, flags: { at?: string; fresh?: boolean }) =>
          (await import("./run-log.ts")).fork(output, id, flags),
        ),
      ),
    "tutti fork 4k2m --at 40",
  );
  examples(
    program
      .command("prune")
      .option("--days <n>", "keep what has changed within so many days")
      .option("--keep <n>", "keep so many runs that are over, the newest")
      .option("--dry-run", "only say which ones would be removed")
      .description("remove runs that are over; their branches stay")
      .action(
        action(async (output, flags: import("./prune.ts").PruneFlags) =>
          (await import("./prune.ts")).prune(output, flags),
        ),
      ),
    "tutti prune --days 30 --dry-run",
    "tutti prune --days 30 --keep 100",
  );
}
