/** `missing` includes things that exist but cannot be used. */
type CheckStatus = "ok" | "warning" | "missing";

export interface Check {
  name: string;
  status: CheckStatus;
  found: string;
  advice?: string | undefined;
}

const checkWith =
  (status: CheckStatus) =>
  (name: string, found: string, advice?: string): Check => ({ name, status, found, advice });

export const ok = checkWith("ok");
export const warning = checkWith("warning");
export const missing = checkWith("missing");
