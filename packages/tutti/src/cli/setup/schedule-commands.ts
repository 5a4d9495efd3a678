import type { CliCommand, CommandAction } from "../command-parts.ts";

const load = () => import("./schedules.ts");

export function addScheduleCommands(program: CliCommand, action: CommandAction): void {
  const schedules = program.command("schedules").description("List and start scheduled runs");
  schedules
    .command("list", { isDefault: true })
    .description("List all schedules with their next time and last run")
    .action(action(load, "listSchedules"))
    .withExamples("tutti schedules list", "tutti schedules list --json | jq -r '.[] | select(.lastSkipped).name'");
  schedules
    .command("run")
    .argument("<name>", "Name of the schedule")
    .description("Start a run of a schedule now")
    .action(action(load, "runSchedule"))
    .withExamples("tutti schedules run nightly");
  program
    .command("triggers")
    .description("List the triggers, which start runs on signed requests")
    .action(action(load, "listTriggers"))
    .withExamples("tutti triggers");
}
