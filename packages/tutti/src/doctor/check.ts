/** `missing` includes things that exist but cannot be used. */
type CheckStatus = "ok" | "warning" | "missing";

export interface Check {
  name: string;
  status: CheckStatus;
  found: string;
  advice?: string;
}
