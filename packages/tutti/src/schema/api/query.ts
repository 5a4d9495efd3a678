// Values of addresses: strings, read as what they stand for.
import { z } from "zod";

const DEFAULT_LIMIT = 1000;
const MAX_LIMIT = 10_000;

const count = (least: number, most: number) =>
  z
    .string()
    .regex(/^\d{1,15}$/, "a whole number")
    .transform(Number)
    .pipe(z.number().int().min(least).max(most));

export const limit = count(1, MAX_LIMIT).default(DEFAULT_LIMIT).describe("At most so many.");
export const afterNumber = count(0, Number.MAX_SAFE_INTEGER);
/** How many of the last ones. */
export const tailCount = count(0, MAX_LIMIT);
/** The place of an event in its run. */
export const eventNumber = count(1, Number.MAX_SAFE_INTEGER);
/** A list that goes on after a number: events by `seq`, transcripts by `n`. */
export const PageQuery = z.object({ after: afterNumber.default(0).describe("Only what comes after it."), limit });
/** A list that goes on after the item of an id, or of a name where names are what its items have. */
export const IdPageQuery = z.object({
  after: z.string().min(1).optional().describe("Only what comes after the one of this id."),
  limit,
});

export const bit = z.enum(["0", "1"]);
export const flag = z
  .enum(["true", "false", "1", "0"])
  .transform((text) => text === "true" || text === "1")
  .pipe(z.boolean());

/** Absolute as POSIX or as Windows has it; whether the server's machine has such a folder, the server finds out. */
export const absolutePath = z.string().refine((path) => /^(\/|[A-Za-z]:[\\/]|\\\\)/.test(path), "an absolute path");
export const words = z.string().refine((text) => text.trim() !== "", "some words");
