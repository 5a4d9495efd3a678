// Query parameters arrive as strings, which `afterNumber`, `flag` and the others parse.
import { z } from "zod";

const DEFAULT_LIMIT = 1000;
const MAX_LIMIT = 10_000;

const count = (least: number, most: number) =>
  z
    .string()
    .regex(/^\d{1,15}$/, "must be a whole number")
    .transform(Number)
    .pipe(z.number().int().min(least).max(most));

const limit = count(1, MAX_LIMIT).default(DEFAULT_LIMIT).describe("Maximum number of items.");
export const afterNumber = count(0, Number.MAX_SAFE_INTEGER);
export const tailCount = count(0, MAX_LIMIT);
/** The patches of a page are selected by their paths, which must fit into a command line. */
export const fileCount = count(1, 500);
/** The `runSeq` of an event. */
export const eventNumber = count(1, Number.MAX_SAFE_INTEGER);
/** `PageQuery` pages through a list by number: events by `seq`, transcripts by `n`. `IdPageQuery` pages by id. */
export const PageQuery = z.object({ after: afterNumber.default(0).describe("Return items after this number."), limit });
export const IdPageQuery = z.object({
  after: z.string().min(1).optional().describe("Return items after the one with this id."),
  limit,
});

export const bit = z.enum(["0", "1"]);
export const flag = z
  .enum(["true", "false", "1", "0"])
  .transform((text) => text === "true" || text === "1")
  .pipe(z.boolean());

/**
 * `absolutePath` accepts POSIX and Windows paths, because it also runs on clients. The server checks that the folder
 * exists.
 */
export const absolutePath = z
  .string()
  .refine((path) => /^(\/|[A-Za-z]:[\\/]|\\\\)/.test(path), "must be an absolute path");
export const variableName = z.string().regex(/^[A-Za-z_][A-Za-z0-9_]*$/, "must be the name of an environment variable");
export const words = z.string().refine((text) => text.trim() !== "", "must not be empty");
