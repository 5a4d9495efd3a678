import type { Command } from "commander";
import { examples, type CommandAction } from "../command-parts.ts";

const load = () => import("./schedules.ts");

export function addScheduleCommands(program: Command, action: CommandAction): void {
  const schedules = program.command("schedules").description("List and start scheduled runs");
  examples(
    schedules
      .command("list", { isDefault: true })
      .description("List all schedules with their next time and last run")
      .action(action(load, "listSchedules")),
    "tutti schedules list",
    "tutti schedules list --json | jq -r '.[] | select(.lastSkipped).name'",
  );
  examples(
    schedules
      .command("run")
      .argument("<name>", "Name of the schedule")
      .description("Start a run of a schedule now")
      .action(action(load, "runSchedule")),
    "tutti schedules run nightly",
  );
  examples(
    program
      .command("triggers")
      .description("List the triggers, which start runs on signed requests")
      .action(action(load, "listTriggers")),
    "tutti triggers",
  );
}
