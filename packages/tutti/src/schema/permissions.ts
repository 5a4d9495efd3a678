// What agents may do without asking. Agents that ask before they use a tool get their answer from here, or from a person.
import { z } from "zod";

/** A tool by name, `Bash`, or with what it is used on, `Bash(npm test*)`, where `*` stands for anything. */
const Pattern = z
  .string()
  .regex(/^[^()\s][^()]*(\(.*\))?$/, "a tool, or a tool with what it is used on: Bash(npm test*)");

export const PERMISSION_MODES = ["ask", "edits", "all", "listed"] as const;

export const Permissions = z.strictObject({
  /**
   * `ask`: a person decides whatever is not listed. `edits`: reading, and changing files of its own workspace, is
   * allowed besides. `all`: everything is allowed that is not refused below. `listed`: what is not listed is refused.
   */
  mode: z.enum(PERMISSION_MODES).default("edits"),
  allow: z.array(Pattern).default([]),
  /** Wins over everything else. */
  refuse: z.array(Pattern).default([]),
});
export type Permissions = z.infer<typeof Permissions>;
export const DEFAULT_PERMISSIONS: Permissions = { mode: "edits", allow: [], refuse: [] };
