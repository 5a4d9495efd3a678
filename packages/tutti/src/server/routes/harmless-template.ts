import { TuttiError } from "../../schema/error.ts";
import { findWiderRights } from "../../template/find-wider.ts";
import { programsOfFile } from "../../template/trust.ts";

/**
 * Returns `template`, or throws `forbidden` if it names a program, or if agents may do more than by default. Works on
 * unchecked input: the schema rejects a value of another type.
 */
export function mustBeHarmless<T>(template: T): T {
  const where = "on a server that listens beyond loopback";
  if (programsOfFile(template).length > 0)
    throw new TuttiError(
      "forbidden",
      `A template with programs to run is rejected ${where}. Use named agents and hooks.`,
    );
  if (findWiderRights(template, {}).length > 0)
    throw new TuttiError("forbidden", `A template with wider permissions is rejected ${where}. Leave them out.`);
  return template;
}
