// One thing that was looked at.

/** Missing is also what is there and cannot be used. */
export type CheckStatus = "ok" | "warning" | "missing";

export interface Check {
  name: string;
  status: CheckStatus;
  found: string;
  /** One sentence on what to do, where something is to be done. */
  advice?: string;
}
