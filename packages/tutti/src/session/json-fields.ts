// `Fields` are untrusted JSON of agents. A value of an unexpected type counts as missing, because every release of an
// agent may add or change members.
import { isRecord, parseJson } from "../protocol/json/json-value.ts";

export type Fields = Readonly<Record<string, unknown>>;

export const recordOf = (value: unknown): Fields => (isRecord(value) ? value : {});

export const listOf = (value: unknown): Fields[] => (Array.isArray(value) ? value.map(recordOf) : []);

/** `textOf` is "" if the text is missing. */
export const textOf = (value: unknown): string => (typeof value === "string" ? value : "");

/** Null if the text is missing or empty. */
export const textOrNull = (value: unknown): string | null => textOf(value) || null;

export const textsOf = (value: unknown): string[] =>
  Array.isArray(value) ? value.filter((each) => typeof each === "string") : [];

export const numberOf = (value: unknown): number | null =>
  typeof value === "number" && Number.isFinite(value) ? value : null;

/** `countOf` is 0 for a negative or missing number. */
export const countOf = (value: unknown): number => Math.max(numberOf(value) ?? 0, 0);

/** `parseRecord` is {} for a text that is not a JSON object. */
export const parseRecord = (text: string): Fields => recordOf(parseJson(text));
