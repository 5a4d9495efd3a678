// What a program gives to a constructor, checked: a wrong option is refused when it is given, not when it is used.
import type { z } from "zod";
import { TuttiError } from "../schema/error.ts";

export function checkOptions<T extends z.ZodType>(schema: T, given: z.input<T>): z.output<T> {
  const parsed = schema.safeParse(given);
  if (parsed.success) return parsed.data;
  const problems = parsed.error.issues.map(({ path, message }) => `${path.join(".")}: ${message}`);
  throw new TuttiError("invalid_input", `these options cannot be used: ${problems.join("; ")}`, { details: problems });
}
