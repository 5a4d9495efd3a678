import { TuttiError } from "../../schema/error.ts";

export function readNumber(flag: string, text: string, min: number, max: number): number {
  const value = Number(text);
  if (Number.isInteger(value) && value >= min && value <= max) return value;
  throw new TuttiError(
    "usage",
    `"${text}" is not a valid value of ${flag}. Give a whole number from ${min} to ${max}.`,
  );
}
