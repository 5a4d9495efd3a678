// Schedules and triggers of one data folder, put together.
import { LiveSettings, type Report } from "./live-settings.ts";
import { RunLauncher, type Runs } from "./run-launcher.ts";
import { ScheduleFile } from "./schedule-file.ts";
import { Schedules } from "./schedules.ts";
import type { Automation } from "./settings.ts";
import { Triggers } from "./triggers.ts";
import type { World } from "../world.ts";

export interface AutomationOptions {
  runs: Runs;
  /** What the configuration says now; throws where it cannot be read. */
  read: () => Automation;
  /** Where is kept what schedules have done. */
  file: string;
  world: World;
  /** The variables of the server, among which secrets are. */
  env: Readonly<Record<string, string | undefined>>;
  /** Refuses, by throwing, a repository that runs may not use. */
  mayUse?: (root: string) => void;
  /** Without it nobody is told but who looks at the lists and events. */
  report?: Report;
}

export interface OpenAutomation {
  schedules: Schedules;
  triggers: Triggers;
}

/** Nothing is started by itself before `schedules.begin`. */
export function openAutomation(options: AutomationOptions): OpenAutomation {
  const { runs, read, file, world, env, mayUse, report = () => {} } = options;
  const settings = new LiveSettings(read, report);
  const launcher = new RunLauncher(runs, mayUse);
  const schedules = new Schedules({ settings, launcher, file: new ScheduleFile(file), world, report });
  return { schedules, triggers: new Triggers({ settings, launcher, world, env, report }) };
}
