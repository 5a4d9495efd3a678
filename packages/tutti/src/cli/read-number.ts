// Flags that take a whole number within bounds.
import { TuttiError } from "../schema/error.ts";

export function readNumber(flag: string, text: string, min: number, max: number): number {
  const value = Number(text);
  if (Number.isInteger(value) && value >= min && value <= max) return value;
  throw new TuttiError("usage", `${flag} takes a number from ${min} to ${max}, not ${text}`);
}
