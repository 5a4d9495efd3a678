import { LiveSettings, type ReportProblem } from "./live-settings.ts";
import { RunLauncher, type LaunchedRuns } from "./run-launcher.ts";
import { ScheduleFile } from "./schedule-file.ts";
import { Schedules } from "./schedules.ts";
import type { Automation } from "./settings.ts";
import { Triggers } from "./triggers.ts";
import type { World } from "../world.ts";

interface AutomationOptions {
  runs: LaunchedRuns;
  /** Reads the current configuration. `read` throws if it is invalid. */
  read: () => Automation;
  /** Path of the `ScheduleFile`. */
  file: string;
  world: World;
  /** `env` holds the secrets of triggers with `secretEnv`. */
  env: Readonly<Record<string, string | undefined>>;
  /** Throws for a repository that runs may not use. */
  mayUse?: (root: string) => void;
  /** Without `report`, problems appear only in the lists and events. */
  report?: ReportProblem;
}

export interface OpenAutomation {
  schedules: Schedules;
  triggers: Triggers;
}

/** Opens the schedules and triggers of one data folder. No schedule fires before `schedules.begin`. */
export function openAutomation(options: AutomationOptions): OpenAutomation {
  const { runs, read, file, world, env, mayUse, report = () => {} } = options;
  const settings = new LiveSettings(read, report);
  const launcher = new RunLauncher(runs, mayUse);
  const schedules = new Schedules({ settings, launcher, file: new ScheduleFile(file), world, report });
  return { schedules, triggers: new Triggers({ settings, launcher, world, env, report }) };
}
