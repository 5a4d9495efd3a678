import type { z } from "zod";
import type * as wire from "../schema/api/run-values.ts";

export type ListedRun = z.infer<typeof wire.RunSummary>;
/** `hash` identifies the content that the user saw. */
export type WaitingItem = z.infer<typeof wire.WaitingItem>;
