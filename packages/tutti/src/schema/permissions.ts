// `Permissions` decide which tool uses are allowed when an agent asks, and which ones the user must decide.
import { z } from "zod";

/** A tool name such as `Bash`, or a tool with its argument such as `Bash(npm test*)`, where `*` matches any text. */
const Pattern = z
  .string()
  .regex(/^[^()\s][^()]*(\(.*\))?$/, "must be a tool or a tool with its argument, for example Bash(npm test*)");

/** From the narrowest to the widest. */
export const PERMISSION_MODES = ["listed", "ask", "edits", "all"] as const;

export const Permissions = z.strictObject({
  /**
   * `ask`: the user decides about every tool use that is not listed. `edits`: like `ask`, but reading and changing files
   * of the own workspace is allowed. `all`: everything is allowed unless refused. `listed`: only listed uses are allowed.
   */
  mode: z.enum(PERMISSION_MODES).default("edits"),
  allow: z.array(Pattern).default([]),
  /** Wins over `allow` and `mode`. */
  refuse: z.array(Pattern).default([]),
});
export type Permissions = z.infer<typeof Permissions>;

export const DEFAULT_PERMISSIONS: Permissions = { mode: "edits", allow: [], refuse: [] };
