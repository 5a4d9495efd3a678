// A hook is a function or command of the user that runs at a certain point of a run (`HOOK_NAMES`).
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
  /** The name of a hook registered in code, or `command:` and a command line. */
  run: z.string().min(1),
  timeout: z.number().int().min(100).max(600_000).default(30_000),
  /** After a failure, continue the run or pause it for the user. The failure is recorded in both cases. */
  onFailure: z.enum(["continue", "pause"]).default("continue"),
});
type HookSettings = z.infer<typeof HookSettings>;

/** A plain string is short for `HookSettings` with that `run`. */
const Hook = z
  .union([z.string().min(1), HookSettings, z.null()])
  .transform((hook) => (typeof hook === "string" ? HookSettings.parse({ run: hook }) : hook))
  .default(null);

export const Hooks = z.strictObject(
  Object.fromEntries(HOOK_NAMES.map((name) => [name, Hook])) as Record<HookName, typeof Hook>,
);
export type Hooks = z.infer<typeof Hooks>;
