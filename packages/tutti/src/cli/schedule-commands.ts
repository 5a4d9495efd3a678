// The commands on what the server starts by itself, as the command line offers them.
import type { Command } from "commander";
import { examples, type Action } from "./command-parts.ts";

const load = () => import("./schedules.ts");

export function addScheduleCommands(program: Command, action: Action): void {
  const schedules = program.command("schedules").description("runs at the times of cron expressions");
  examples(
    schedules
      .command("list", { isDefault: true })
      .description("all schedules: when they are due, what they did last")
      .action(action(async (output) => (await load()).listSchedules(output))),
    "tutti schedules list",
    "tutti schedules list --json | jq -r '.[] | select(.lastSkipped).name'",
  );
  examples(
    schedules
      .command("run")
      .argument("<name>", "the schedule")
      .description("start a run of a schedule now")
      .action(action(async (output, name: string) => (await load()).runSchedule(output, name))),
    "tutti schedules run nightly",
  );
  examples(
    program
      .command("triggers")
      .description("runs that a signed request sets off")
      .action(action(async (output) => (await load()).listTriggers(output))),
    "tutti triggers",
  );
}
