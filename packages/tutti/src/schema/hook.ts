// Hooks: something of the user's own that is told of a moment in a run.
import { z } from "zod";

export const HOOK_NAMES = [
  "onAnalysisComplete",
  "onTasksGenerated",
  "onWorkerStart",
  "onWorkerComplete",
  "onAllWorkersComplete",
  "onError",
] as const;
export type HookName = (typeof HOOK_NAMES)[number];

const HookSettings = z.strictObject({
  /** A name that was registered in code, or `command:` and a command line. */
  run: z.string().min(1),
  timeout: z.number().int().min(100).max(600_000).default(30_000),
  /** What a failure means: it is recorded and the run goes on, or the run is paused for a person to look. */
  onFailure: z.enum(["continue", "pause"]).default("continue"),
});
export type HookSettings = z.infer<typeof HookSettings>;

/** The short form is only what to run. */
const Hook = z
  .union([z.string().min(1), HookSettings, z.null()])
  .transform((hook) => (typeof hook === "string" ? HookSettings.parse({ run: hook }) : hook))
  .default(null);

export const Hooks = z.strictObject(
  Object.fromEntries(HOOK_NAMES.map((name) => [name, Hook])) as Record<HookName, typeof Hook>,
);
export type Hooks = z.infer<typeof Hooks>;
