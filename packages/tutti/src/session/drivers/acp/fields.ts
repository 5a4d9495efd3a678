// Reads untrusted values. A value of an unexpected type counts as missing.
export type Fields = Readonly<Record<string, unknown>>;

export const isRecord = (value: unknown): value is Fields =>
  typeof value === "object" && value !== null && !Array.isArray(value);

export const recordOf = (value: unknown): Fields => (isRecord(value) ? value : {});

export const listOf = (value: unknown): Fields[] => (Array.isArray(value) ? value.filter(isRecord) : []);

/** Null for an empty text. */
export const textOf = (value: unknown): string | null => (typeof value === "string" && value !== "" ? value : null);

export const countOf = (value: unknown): number =>
  typeof value === "number" && Number.isFinite(value) && value > 0 ? value : 0;
