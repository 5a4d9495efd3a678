// Runs as the server tells them. Times are ISO strings on the wire.
import type { z } from "zod";
import type * as wire from "../schema/api/run-values.ts";

/** A run in a list: enough to find it again. */
export type RunSummary = z.infer<typeof wire.RunSummary>;
/** Something that waits for a person; `hash` stands for what was shown. */
export type WaitingItem = z.infer<typeof wire.WaitingItem>;
