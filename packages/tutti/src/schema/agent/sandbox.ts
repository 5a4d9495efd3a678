import { z } from "zod";

export const SANDBOX_MODES = ["auto", "off", "required"] as const;
/** `auto` uses the sandbox where it works; `required` refuses a run without it. */
export const SandboxMode = z.enum(SANDBOX_MODES);
export type SandboxMode = z.infer<typeof SandboxMode>;

/** `unavailable` means that the run wanted a sandbox, but it does not work on this machine. */
export const SandboxState = z.enum(["on", "off", "unavailable"]);
export type SandboxState = z.infer<typeof SandboxState>;

/**
 * Paths of this machine as an agent in the sandbox finds them. Of `readable`, `writable` and `hidden`, a path below
 * another one wins over it.
 */
export interface SandboxPaths {
  readable?: string[];
  writable?: string[];
  hidden?: string[];
}
